"""The first version that a release wrote. Its SQL stands in the files beside it, as it was."""

from pathlib import Path

from alembic import op

revision = "0011"
down_revision = None


def upgrade() -> None:
    """All tables, and what the database refuses by itself."""
    dialect = op.get_bind().dialect.name
    text = Path(__file__).with_name(f"v0011_first.{dialect}.sql").read_text("utf-8")
    for statement in text.split(";;\n"):
        if statement.strip():  # the driver of PostgreSQL takes a single % for a parameter
            doubled = statement.replace("%", "%%") if dialect == "postgresql" else statement
            op.get_bind().exec_driver_sql(doubled)
