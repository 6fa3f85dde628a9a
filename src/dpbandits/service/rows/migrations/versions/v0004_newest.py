"""Of each person, the newest decision of a campaign that is learned from: where no two of their
rewards are read in one release, it says whether one may still be unread.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """A table of its own, for few campaigns need it."""
    op.create_table(
        "newest",
        sa.Column("campaign", sa.String(32), nullable=False),
        sa.Column("pseudonym", sa.String(32), nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("arm", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("campaign", "pseudonym"),
    )
