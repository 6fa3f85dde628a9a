"""A scope has what its guarantees are about: the unit, the window of contributions, trust and noise
of its first campaign. Of a scope that campaigns joined before, nobody knows; no further one joins.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005_scope_kind"
down_revision = "0004"


def upgrade() -> None:
    """The columns."""
    op.add_column("scope", sa.Column("unit", sa.String(8)))
    op.add_column("scope", sa.Column("window", sa.Float))
    op.add_column("scope", sa.Column("trust", sa.String(8)))
    op.add_column("scope", sa.Column("noise", sa.String(16)))
