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
    window BIGINT NOT NULL, 
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
    window BIGINT, 
    status VARCHAR(8) NOT NULL, 
    moved BIGINT NOT NULL, 
    nonce BIGINT DEFAULT 0 NOT NULL, 
    "plan" BIGINT, 
    PRIMARY KEY (campaign, seq)
);;
CREATE INDEX decision_moved ON decision (campaign, moved);;
CREATE INDEX decision_pseudonym ON decision (pseudonym);;
CREATE INDEX decision_waiting ON decision (campaign, seq) WHERE status = 'waiting';;
CREATE TABLE event (
    id INTEGER NOT NULL, 
    campaign VARCHAR(32) NOT NULL, 
    at FLOAT NOT NULL, 
    what VARCHAR(40) NOT NULL, 
    about TEXT, 
    asked BIGINT NOT NULL, 
    "by" TEXT, 
    PRIMARY KEY (id)
);;
CREATE INDEX event_campaign ON event (campaign, id);;
CREATE TABLE head (
    campaign VARCHAR(32) NOT NULL, 
    version BIGINT NOT NULL, 
    generation INTEGER NOT NULL, 
    step BIGINT NOT NULL, 
    chain VARCHAR(64) NOT NULL, 
    "before" BIGINT NOT NULL, 
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
    body BLOB NOT NULL, 
    PRIMARY KEY (campaign, seq)
);;
CREATE TABLE ledger (
    id INTEGER NOT NULL, 
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
    body BLOB NOT NULL, 
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
    window FLOAT, 
    trust VARCHAR(8), 
    noise VARCHAR(16), 
    PRIMARY KEY (name)
);;
CREATE TRIGGER ledger_once BEFORE INSERT ON ledger WHEN NEW.kind = 'read' AND (
    SELECT stop FROM ledger WHERE campaign = NEW.campaign AND generation = NEW.generation
    AND coordinate = NEW.coordinate AND kind = 'read' AND start < NEW.stop ORDER BY start DESC LIMIT 1
) > NEW.start BEGIN SELECT RAISE(ABORT, 'a reward was read before'); END;;
CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger BEGIN SELECT RAISE(ABORT, 'ledger is append only'); END;;
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger BEGIN SELECT RAISE(ABORT, 'ledger is append only'); END;;
CREATE TRIGGER release_no_update BEFORE UPDATE ON release BEGIN SELECT RAISE(ABORT, 'release is append only'); END;;
CREATE TRIGGER release_no_delete BEFORE DELETE ON release BEGIN SELECT RAISE(ABORT, 'release is append only'); END;;
CREATE TRIGGER ledger_no_replace BEFORE INSERT ON ledger WHEN EXISTS (
    SELECT 1 FROM ledger WHERE id = NEW.id
) BEGIN SELECT RAISE(ABORT, 'ledger is append only'); END;;
CREATE TRIGGER release_no_replace BEFORE INSERT ON release WHEN EXISTS (
    SELECT 1 FROM release WHERE campaign = NEW.campaign AND step = NEW.step
) BEGIN SELECT RAISE(ABORT, 'release is append only'); END;;
