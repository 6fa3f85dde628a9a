"""An index of the decisions that wait: a campaign is opened as fast after many as at first."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """The index."""
    waiting = sa.text("status = 'waiting'")
    op.create_index(
        "decision_waiting",
        "decision",
        ["campaign", "seq"],
        sqlite_where=waiting,
        postgresql_where=waiting,
    )
