"""What deletes rows past the triggers of the first version is refused, too: SQLite's INSERT OR
REPLACE, and PostgreSQL's TRUNCATE.
"""

from alembic import op

revision = "0004"
down_revision = "0003"

KEYS = {"ledger": "id = NEW.id", "release": "campaign = NEW.campaign AND step = NEW.step"}
"""How a row is told from others."""


def upgrade() -> None:
    """A trigger for each table that is only added to."""
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
