CREATE TABLE access_key (
    hash VARCHAR(64) NOT NULL, 
    name VARCHAR(200) NOT NULL, 
    roles VARCHAR(100) NOT NULL, 
    campaign VARCHAR(200), 
    created FLOAT NOT NULL, 
    revoked FLOAT, 
    PRIMARY KEY (hash)
);;
CREATE TABLE campaign (
    uid VARCHAR(32) NOT NULL, 
    name VARCHAR(200) NOT NULL, 
    "group" VARCHAR(32) NOT NULL, 
    options TEXT NOT NULL, 
    created FLOAT NOT NULL, 
    PRIMARY KEY (uid), 
    UNIQUE (name)
);;
CREATE TABLE contribution (
    "group" VARCHAR(32) NOT NULL, 
    pseudonym VARCHAR(32) NOT NULL, 
    "window" BIGINT NOT NULL, 
    used INTEGER NOT NULL, 
    PRIMARY KEY ("group", pseudonym)
);;
CREATE TABLE decision (
    campaign VARCHAR(32) NOT NULL, 
    seq BIGINT NOT NULL, 
    generation INTEGER NOT NULL, 
    step BIGINT NOT NULL, 
    action TEXT NOT NULL, 
    observe TEXT, 
    label TEXT, 
    learn BOOLEAN NOT NULL, 
    propensity FLOAT, 
    eligible TEXT, 
    asked_at FLOAT NOT NULL, 
    due_at FLOAT, 
    pseudonym VARCHAR(32), 
    "window" BIGINT, 
    status VARCHAR(8) NOT NULL, 
    moved BIGINT NOT NULL, 
    nonce BIGINT DEFAULT 0 NOT NULL, 
    plan BIGINT, 
    PRIMARY KEY (campaign, seq)
);;
CREATE INDEX decision_moved ON decision (campaign, moved);;
CREATE INDEX decision_pseudonym ON decision (pseudonym);;
CREATE INDEX decision_waiting ON decision (campaign, seq) WHERE status = 'waiting';;
CREATE TABLE event (
    id BIGSERIAL NOT NULL, 
    campaign VARCHAR(32) NOT NULL, 
    at FLOAT NOT NULL, 
    what VARCHAR(40) NOT NULL, 
    about TEXT, 
    asked BIGINT NOT NULL, 
    by TEXT, 
    PRIMARY KEY (id)
);;
CREATE INDEX event_campaign ON event (campaign, id);;
CREATE TABLE head (
    campaign VARCHAR(32) NOT NULL, 
    version BIGINT NOT NULL, 
    generation INTEGER NOT NULL, 
    step BIGINT NOT NULL, 
    chain VARCHAR(64) NOT NULL, 
    before BIGINT NOT NULL, 
    chain_before VARCHAR(64) NOT NULL, 
    asked BIGINT NOT NULL, 
    waiting BIGINT NOT NULL, 
    public TEXT NOT NULL, 
    closed TEXT, 
    PRIMARY KEY (campaign)
);;
CREATE TABLE held (
    campaign VARCHAR(32) NOT NULL, 
    seq BIGINT NOT NULL, 
    body BYTEA NOT NULL, 
    PRIMARY KEY (campaign, seq)
);;
CREATE TABLE ledger (
    id BIGSERIAL NOT NULL, 
    campaign VARCHAR(32) NOT NULL, 
    generation INTEGER NOT NULL, 
    coordinate INTEGER NOT NULL, 
    start BIGINT NOT NULL, 
    stop BIGINT NOT NULL, 
    cost TEXT, 
    step BIGINT NOT NULL, 
    kind VARCHAR(4) NOT NULL, 
    moved BIGINT NOT NULL, 
    PRIMARY KEY (id)
);;
CREATE INDEX ledger_moved ON ledger (campaign, moved);;
CREATE INDEX ledger_place ON ledger (campaign, generation, coordinate, start);;
CREATE TABLE private_state (
    campaign VARCHAR(32) NOT NULL, 
    body BYTEA NOT NULL, 
    PRIMARY KEY (campaign)
);;
CREATE TABLE release (
    campaign VARCHAR(32) NOT NULL, 
    step BIGINT NOT NULL, 
    generation INTEGER NOT NULL, 
    coordinates TEXT NOT NULL, 
    answers TEXT NOT NULL, 
    asked BIGINT NOT NULL, 
    made_at FLOAT NOT NULL, 
    chain VARCHAR(64) NOT NULL, 
    PRIMARY KEY (campaign, step)
);;
CREATE TABLE request (
    campaign VARCHAR(32) NOT NULL, 
    place VARCHAR(64) NOT NULL, 
    response TEXT NOT NULL, 
    PRIMARY KEY (campaign, place)
);;
CREATE TABLE scope (
    name VARCHAR(200) NOT NULL, 
    epsilon TEXT NOT NULL, 
    spent TEXT NOT NULL, 
    unit VARCHAR(8), 
    "window" FLOAT, 
    trust VARCHAR(8), 
    noise VARCHAR(16), 
    PRIMARY KEY (name)
);;
CREATE EXTENSION IF NOT EXISTS btree_gist;;
ALTER TABLE ledger ADD CONSTRAINT ledger_once EXCLUDE USING gist (
    campaign WITH =, generation WITH =, coordinate WITH =, int8range(start, stop) WITH &&
) WHERE (kind = 'read');;
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% is append only', TG_TABLE_NAME; END $$;;
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE ON ledger FOR EACH ROW EXECUTE FUNCTION append_only();;
CREATE TRIGGER release_append_only BEFORE UPDATE OR DELETE ON release FOR EACH ROW EXECUTE FUNCTION append_only();;
CREATE TRIGGER ledger_no_truncate BEFORE TRUNCATE ON ledger FOR EACH STATEMENT EXECUTE FUNCTION append_only();;
CREATE TRIGGER release_no_truncate BEFORE TRUNCATE ON release FOR EACH STATEMENT EXECUTE FUNCTION append_only();;
