"""Decisions say which joint plan they are of; no table of people's newest decisions any more."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0005"


def upgrade() -> None:
    """The column, and without the table."""
    op.add_column("decision", sa.Column("plan", sa.BigInteger))
    op.drop_table("newest")
