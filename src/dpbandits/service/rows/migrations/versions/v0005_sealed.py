"""Private rows are bound to the public ones beside them, each decision whose answer is waited for
has a sealed row from its ask on, and calls are known by a keyed hash. What earlier versions wrote
cannot be told from what somebody put in its place, so a database with campaigns in it is refused:
no release of this package ever wrote one.
"""

import sqlalchemy as sa
from alembic import op

from dpbandits.core.errors import StoreError

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """The two tables, anew: they are empty."""
    if op.get_bind().exec_driver_sql("SELECT count(*) FROM campaign").scalar():
        raise StoreError(
            "This database has campaigns that a version of dpbandits before its 0.2.0 wrote, whose "
            "private rows are not bound to the public ones. Nothing was changed. Finish them with "
            "the dpbandits that wrote them, and begin new ones in a new database."
        )
    op.drop_table("held")
    op.create_table(
        "held",
        sa.Column("campaign", sa.String(32), nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("campaign", "seq"),
    )
    op.drop_table("request")
    op.create_table(
        "request",
        sa.Column("campaign", sa.String(32), nullable=False),
        sa.Column("place", sa.String(64), nullable=False),
        sa.Column("response", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("campaign", "place"),
    )
