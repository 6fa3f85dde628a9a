"""Decisions have a nonce, which is part of their names. Names that were given out before have none,
and go on to be known: 0 stands where it would. And what deletes rows past the triggers of the first
version is refused, too: SQLite's INSERT OR REPLACE, and PostgreSQL's TRUNCATE.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

KEYS = {"ledger": "id = NEW.id", "release": "campaign = NEW.campaign AND step = NEW.step"}
"""Of each table that is only added to, how a row is told from others."""


def upgrade() -> None:
    """The column, and a trigger for each of these tables."""
    nonce = sa.Column("nonce", sa.BigInteger, nullable=False, server_default=sa.text("0"))
    op.add_column("decision", nonce)
    connection = op.get_bind()
    for table, same in KEYS.items():
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(
                f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} "
                f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {same}) "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append only'); END"
            )
        else:
            connection.exec_driver_sql(
                f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION append_only()"
            )
