"""The first version."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

SQLITE = """
CREATE TRIGGER dpbandits_ledger_once BEFORE INSERT ON dpbandits_ledger WHEN NEW.kind = 'read' AND (
    SELECT stop FROM dpbandits_ledger WHERE campaign = NEW.campaign AND generation = NEW.generation
    AND coordinate = NEW.coordinate AND kind = 'read' AND start < NEW.stop
    ORDER BY start DESC LIMIT 1
) > NEW.start BEGIN SELECT RAISE(ABORT, 'a reward was read before'); END;;
CREATE TRIGGER dpbandits_ledger_no_update BEFORE UPDATE ON dpbandits_ledger
BEGIN SELECT RAISE(ABORT, 'ledger is append only'); END;;
CREATE TRIGGER dpbandits_ledger_no_delete BEFORE DELETE ON dpbandits_ledger
BEGIN SELECT RAISE(ABORT, 'ledger is append only'); END;;
CREATE TRIGGER dpbandits_ledger_no_replace BEFORE INSERT ON dpbandits_ledger WHEN EXISTS (
    SELECT 1 FROM dpbandits_ledger WHERE id = NEW.id
) BEGIN SELECT RAISE(ABORT, 'ledger is append only'); END;;
CREATE TRIGGER dpbandits_release_no_update BEFORE UPDATE ON dpbandits_release
BEGIN SELECT RAISE(ABORT, 'release is append only'); END;;
CREATE TRIGGER dpbandits_release_no_delete BEFORE DELETE ON dpbandits_release
BEGIN SELECT RAISE(ABORT, 'release is append only'); END;;
CREATE TRIGGER dpbandits_release_no_replace BEFORE INSERT ON dpbandits_release WHEN EXISTS (
    SELECT 1 FROM dpbandits_release WHERE campaign = NEW.campaign AND step = NEW.step
) BEGIN SELECT RAISE(ABORT, 'release is append only'); END
"""

POSTGRESQL = """
CREATE EXTENSION IF NOT EXISTS btree_gist;;
ALTER TABLE dpbandits_ledger ADD CONSTRAINT dpbandits_ledger_once EXCLUDE USING gist (
    campaign WITH =, generation WITH =, coordinate WITH =, int8range(start, stop) WITH &&
) WHERE (kind = 'read');;
CREATE FUNCTION dpbandits_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%% is append only', TG_TABLE_NAME; END $$;;
CREATE TRIGGER dpbandits_ledger_append_only BEFORE UPDATE OR DELETE ON dpbandits_ledger
FOR EACH ROW EXECUTE FUNCTION dpbandits_append_only();;
CREATE TRIGGER dpbandits_release_append_only BEFORE UPDATE OR DELETE ON dpbandits_release
FOR EACH ROW EXECUTE FUNCTION dpbandits_append_only();;
CREATE TRIGGER dpbandits_ledger_no_truncate BEFORE TRUNCATE ON dpbandits_ledger
FOR EACH STATEMENT EXECUTE FUNCTION dpbandits_append_only();;
CREATE TRIGGER dpbandits_release_no_truncate BEFORE TRUNCATE ON dpbandits_release
FOR EACH STATEMENT EXECUTE FUNCTION dpbandits_append_only()
"""


def upgrade() -> None:
    """Make all tables, and what the database refuses by itself."""
    op.create_table(
        "dpbandits_access_key",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("roles", sa.String(length=100), nullable=False),
        sa.Column("campaign", sa.String(length=200), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("revoked", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("hash"),
    )
    op.create_table(
        "dpbandits_campaign",
        sa.Column("uid", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("group", sa.String(length=32), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("uid"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "dpbandits_contribution",
        sa.Column("group", sa.String(length=32), nullable=False),
        sa.Column("pseudonym", sa.String(length=32), nullable=False),
        sa.Column("window", sa.BigInteger(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("kept", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("group", "pseudonym"),
    )
    op.create_table(
        "dpbandits_decision",
        sa.Column("campaign", sa.String(length=32), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("observe", sa.Text(), nullable=True),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("learn", sa.Boolean(), nullable=False),
        sa.Column("propensity", sa.Float(), nullable=True),
        sa.Column("eligible", sa.Text(), nullable=True),
        sa.Column("asked_at", sa.Float(), nullable=False),
        sa.Column("due_at", sa.Float(), nullable=True),
        sa.Column("pseudonym", sa.String(length=32), nullable=True),
        sa.Column("window", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.String(length=8), nullable=False),
        sa.Column("moved", sa.BigInteger(), nullable=False),
        sa.Column("nonce", sa.BigInteger(), nullable=False),
        sa.Column("plan", sa.BigInteger(), nullable=True),
        sa.Column("context", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("campaign", "seq"),
    )
    op.create_index(
        "dpbandits_decision_moved", "dpbandits_decision", ["campaign", "moved"], unique=False
    )
    op.create_index(
        "dpbandits_decision_pseudonym", "dpbandits_decision", ["pseudonym"], unique=False
    )
    op.create_index(
        "dpbandits_decision_waiting",
        "dpbandits_decision",
        ["campaign", "seq"],
        unique=False,
        sqlite_where=sa.text("status = 'waiting'"),
        postgresql_where=sa.text("status = 'waiting'"),
    )
    op.create_table(
        "dpbandits_event",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("campaign", sa.String(length=32), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("what", sa.String(length=40), nullable=False),
        sa.Column("about", sa.Text(), nullable=True),
        sa.Column("asked", sa.BigInteger(), nullable=False),
        sa.Column("by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("dpbandits_event_campaign", "dpbandits_event", ["campaign", "id"], unique=False)
    op.create_table(
        "dpbandits_head",
        sa.Column("campaign", sa.String(length=32), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("chain", sa.String(length=64), nullable=False),
        sa.Column("before", sa.BigInteger(), nullable=False),
        sa.Column("chain_before", sa.String(length=64), nullable=False),
        sa.Column("asked", sa.BigInteger(), nullable=False),
        sa.Column("waiting", sa.BigInteger(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("public", sa.Text(), nullable=False),
        sa.Column("closed", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("campaign"),
    )
    op.create_table(
        "dpbandits_held",
        sa.Column("campaign", sa.String(length=32), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "seq"),
    )
    op.create_table(
        "dpbandits_ledger",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("campaign", sa.String(length=32), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("coordinate", sa.Integer(), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("stop", sa.BigInteger(), nullable=False),
        sa.Column("cost", sa.Text(), nullable=True),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=4), nullable=False),
        sa.Column("moved", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "dpbandits_ledger_moved", "dpbandits_ledger", ["campaign", "moved"], unique=False
    )
    op.create_index(
        "dpbandits_ledger_place",
        "dpbandits_ledger",
        ["campaign", "generation", "coordinate", "start"],
        unique=False,
    )
    op.create_table(
        "dpbandits_private_state",
        sa.Column("campaign", sa.String(length=32), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("campaign"),
    )
    op.create_table(
        "dpbandits_release",
        sa.Column("campaign", sa.String(length=32), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("coordinates", sa.Text(), nullable=False),
        sa.Column("answers", sa.Text(), nullable=False),
        sa.Column("asked", sa.BigInteger(), nullable=False),
        sa.Column("made_at", sa.Float(), nullable=False),
        sa.Column("chain", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "step"),
    )
    op.create_table(
        "dpbandits_request",
        sa.Column("group", sa.String(length=32), nullable=False),
        sa.Column("place", sa.String(length=64), nullable=False),
        sa.Column("response", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("group", "place"),
    )
    op.create_table(
        "dpbandits_scope",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("epsilon", sa.Text(), nullable=False),
        sa.Column("spent", sa.Text(), nullable=False),
        sa.Column("unit", sa.String(length=8), nullable=True),
        sa.Column("window", sa.Float(), nullable=True),
        sa.Column("trust", sa.String(length=8), nullable=True),
        sa.Column("noise", sa.String(length=16), nullable=True),
        sa.PrimaryKeyConstraint("name"),
    )
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

    connection = op.get_bind()
    refused = SQLITE if connection.dialect.name == "sqlite" else POSTGRESQL
    for statement in refused.split(";;"):
        connection.exec_driver_sql(statement)
