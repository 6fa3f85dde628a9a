"""The tables, for SQLAlchemy. `private_state` and `held` hold what is private, the others nothing
that is: a connection that is granted only those can show nothing else.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    text,
)

metadata = MetaData()

PRIVATE = ("private_state", "held")
"""What nobody but a turn reads."""

campaign = Table(
    "campaign",
    metadata,
    Column("uid", String(32), primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("group", String(32), nullable=False),
    Column("options", Text, nullable=False),
    Column("created", Float, nullable=False),
)

head = Table(
    "head",
    metadata,
    Column("campaign", String(32), primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("step", BigInteger, nullable=False),
    Column("chain", String(64), nullable=False),
    Column("before", BigInteger, nullable=False),
    Column("chain_before", String(64), nullable=False),
    Column("asked", BigInteger, nullable=False),
    Column("waiting", BigInteger, nullable=False),
    Column("public", Text, nullable=False),
    Column("closed", Text),
)

private_state = Table(
    "private_state",
    metadata,
    Column("campaign", String(32), primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

decision = Table(
    "decision",
    metadata,
    Column("campaign", String(32), nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("step", BigInteger, nullable=False),
    Column("action", Text, nullable=False),
    Column("observe", Text),
    Column("label", Text),
    Column("learn", Boolean, nullable=False),
    Column("propensity", Float),
    Column("eligible", Text),
    Column("asked_at", Float, nullable=False),
    Column("due_at", Float),
    Column("pseudonym", String(32)),
    Column("window", BigInteger),
    Column("status", String(8), nullable=False),
    Column("moved", BigInteger, nullable=False),
    Column("nonce", BigInteger, nullable=False, server_default=text("0")),
    Column("plan", BigInteger),
    PrimaryKeyConstraint("campaign", "seq"),
    Index("decision_moved", "campaign", "moved"),
    # a campaign that is opened reads what waits, however much does not
    Index(
        "decision_waiting",
        "campaign",
        "seq",
        sqlite_where=text("status = 'waiting'"),
        postgresql_where=text("status = 'waiting'"),
    ),
    Index("decision_pseudonym", "pseudonym"),
)

held = Table(
    "held",
    metadata,
    Column("campaign", String(32), nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    PrimaryKeyConstraint("campaign", "seq"),
)

release = Table(
    "release",
    metadata,
    Column("campaign", String(32), nullable=False),
    Column("step", BigInteger, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("coordinates", Text, nullable=False),
    Column("answers", Text, nullable=False),
    Column("asked", BigInteger, nullable=False),
    Column("made_at", Float, nullable=False),
    Column("chain", String(64), nullable=False),
    PrimaryKeyConstraint("campaign", "step"),
)

ledger = Table(
    "ledger",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("campaign", String(32), nullable=False),
    Column("generation", Integer, nullable=False),
    Column("coordinate", Integer, nullable=False),
    Column("start", BigInteger, nullable=False),
    Column("stop", BigInteger, nullable=False),
    Column("cost", Text),
    Column("step", BigInteger, nullable=False),
    Column("kind", String(4), nullable=False),
    Column("moved", BigInteger, nullable=False),
    Index("ledger_moved", "campaign", "moved"),
    Index("ledger_place", "campaign", "generation", "coordinate", "start"),
)

contribution = Table(
    "contribution",
    metadata,
    Column("group", String(32), nullable=False),
    Column("pseudonym", String(32), nullable=False),
    Column("window", BigInteger, nullable=False),
    Column("used", Integer, nullable=False),
    PrimaryKeyConstraint("group", "pseudonym"),
)

event = Table(
    "event",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("campaign", String(32), nullable=False),
    Column("at", Float, nullable=False),
    Column("what", String(40), nullable=False),
    Column("about", Text),
    Column("asked", BigInteger, nullable=False),
    Column("by", Text),
    Index("event_campaign", "campaign", "id"),
)

request = Table(
    "request",
    metadata,
    Column("campaign", String(32), nullable=False),
    Column("place", String(64), nullable=False),
    Column("response", Text, nullable=False),
    PrimaryKeyConstraint("campaign", "place"),
)

scope = Table(
    "scope",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("epsilon", Text, nullable=False),
    Column("spent", Text, nullable=False),
    Column("unit", String(8)),
    Column("window", Float),
    Column("trust", String(8)),
    Column("noise", String(16)),
)

access_key = Table(
    "access_key",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("roles", String(100), nullable=False),
    Column("campaign", String(200)),
    Column("created", Float, nullable=False),
    Column("revoked", Float),
)
