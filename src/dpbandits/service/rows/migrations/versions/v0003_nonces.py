"""Decisions have a nonce, which is part of their names. Names that were given out before have none,
and go on to be known: 0 stands where it would.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """The column."""
    nonce = sa.Column("nonce", sa.BigInteger, nullable=False, server_default=sa.text("0"))
    op.add_column("decision", nonce)
