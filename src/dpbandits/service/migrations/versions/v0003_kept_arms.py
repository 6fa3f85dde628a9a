"""Arms that people keep."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add a column to contributions."""
    op.add_column("dpbandits_contribution", sa.Column("kept", sa.LargeBinary(), nullable=True))
