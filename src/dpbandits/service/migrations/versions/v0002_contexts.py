"""Contexts: with pending decisions, for the next codebooks, and beside open blocks."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add a column to decisions, and three tables."""
    op.add_column("dpbandits_decision", sa.Column("context", sa.LargeBinary(), nullable=True))
    op.create_table(
        "dpbandits_context",
        sa.Column("campaign", sa.String(length=32), nullable=False),
        sa.Column("arm", sa.Integer(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("pseudonym", sa.String(length=32), nullable=True),
        sa.Column("moved", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "arm", "number"),
    )
    op.create_index(
        "dpbandits_context_moved", "dpbandits_context", ["campaign", "moved"], unique=False
    )
    op.create_table(
        "dpbandits_open_cell",
        sa.Column("campaign", sa.String(length=32), nullable=False),
        sa.Column("arm", sa.Integer(), nullable=False),
        sa.Column("cell", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "arm", "cell"),
    )
    op.create_table(
        "dpbandits_learned",
        sa.Column("campaign", sa.String(length=32), nullable=False),
        sa.Column("what", sa.String(length=8), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "what"),
    )
