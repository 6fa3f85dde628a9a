BEGIN TRANSACTION;
CREATE TABLE access_key (
    hash VARCHAR(64) NOT NULL,
    name VARCHAR(200) NOT NULL,
    roles VARCHAR(100) NOT NULL,
    campaign VARCHAR(200),
    created FLOAT NOT NULL,
    revoked FLOAT,
    PRIMARY KEY (hash)
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE campaign (
    uid VARCHAR(32) NOT NULL,
    name VARCHAR(200) NOT NULL,
    "group" VARCHAR(32) NOT NULL,
    options TEXT NOT NULL,
    created FLOAT NOT NULL,
    PRIMARY KEY (uid),
    UNIQUE (name)
);
INSERT INTO "campaign" VALUES('c2d98ba85f66a896af4943fad0fe4ad9','c','c2d98ba85f66a896af4943fad0fe4ad9','{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 1), grid=1024, first=4, alpha=1.5, preset=''default'')"}}',1.79537905518858122828e+09);
CREATE TABLE contribution (
    "group" VARCHAR(32) NOT NULL,
    pseudonym VARCHAR(32) NOT NULL,
    window BIGINT NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY ("group", pseudonym)
);
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
    PRIMARY KEY (campaign, seq)
);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',1,1,0,'1',NULL,NULL,1,3.33333333333333314829e-01,NULL,1.79537905522606396676e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',2,1,0,'2',NULL,NULL,1,3.63636363636363646456e-01,NULL,1.79537905522606396676e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',3,1,0,'2',NULL,NULL,1,0.3,NULL,1.79537905522606396676e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',4,1,0,'0',NULL,NULL,1,4.44444444444444419772e-01,NULL,1.79537905522606396676e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',5,1,0,'1',NULL,NULL,1,0.375,NULL,1.79537905522606396676e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',6,1,0,'0',NULL,NULL,1,4.28571428571428547638e-01,NULL,1.79537905522606396676e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',7,1,0,'0',NULL,NULL,1,3.33333333333333314829e-01,NULL,1.79537905522606396676e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',8,1,0,'2',NULL,NULL,1,0.4,NULL,1.79537905522606396676e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',9,1,0,'1',NULL,NULL,1,0.5,NULL,1.79537905528963065144e+09,NULL,NULL,NULL,'told',5);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',10,1,0,'0',NULL,NULL,1,3.33333333333333314829e-01,NULL,1.79537905528963065144e+09,NULL,NULL,NULL,'told',5);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',11,1,0,'2',NULL,NULL,1,0.5,NULL,1.79537905528963065144e+09,NULL,NULL,NULL,'told',5);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',12,1,0,'1',NULL,NULL,1,1.0,NULL,1.79537905528963065144e+09,NULL,NULL,NULL,'told',5);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',13,1,3,'0',NULL,NULL,1,1.0,NULL,1.79537905531205821039e+09,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',14,1,3,'0',NULL,NULL,1,1.0,NULL,1.79537905531205821039e+09,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',15,1,3,'0',NULL,NULL,1,1.0,NULL,1.79537905531205821039e+09,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',16,1,3,'0',NULL,NULL,1,1.0,NULL,1.79537905531205821039e+09,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',17,1,3,'0',NULL,NULL,1,1.0,NULL,1.79537905531205821039e+09,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',18,1,3,'1',NULL,NULL,1,1.0,NULL,1.79537905531205821039e+09,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',19,1,3,'1',NULL,NULL,1,1.0,NULL,1.79537905531205821039e+09,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',20,1,3,'1',NULL,NULL,1,1.0,NULL,1.79537905531205821039e+09,NULL,NULL,NULL,'waiting',6);
CREATE TABLE event (
    id INTEGER NOT NULL,
    campaign VARCHAR(32) NOT NULL,
    at FLOAT NOT NULL,
    what VARCHAR(40) NOT NULL,
    about TEXT,
    asked BIGINT NOT NULL,
    "by" TEXT,
    PRIMARY KEY (id)
);
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
);
INSERT INTO "head" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',6,1,3,'33fae98a2191c9461a1a70da2d2b76b25c3a5c251187c31436b5d6c18b9fd2aa',3,'33fae98a2191c9461a1a70da2d2b76b25c3a5c251187c31436b5d6c18b9fd2aa',20,8,'{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":20,"asked_before_plan":12,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",1,[[1,2.4248046875,4,[[1,1]]]],[1,2.4248046875,4,[[1,1]]]],["1",1,[[1,3.3681640625,4,[[1,1]]]],[1,3.3681640625,4,[[1,1]]]],["2",1,[[1,3.8955078125,4,[[1,1]]]],[1,3.8955078125,4,[[1,1]]]]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,1,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[1,20,22,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[2.4248046875,3.3681640625,3.8955078125],[4,4,4],[1,1,1],[4,4,4],[0,0,0],12],"step":3,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[4,4,4],"expected":[3.4616522366522373,4.966774891774891,3.571572871572872],"highest":0.00029751557212875923,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.007373083456513996},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[[0,4],[1,4],[2,4]],"dropped":[],"releases":3},"records":12,"turns":3}}}',NULL);
CREATE TABLE held (
    campaign VARCHAR(32) NOT NULL,
    seq BIGINT NOT NULL,
    body BLOB NOT NULL,
    moved BIGINT NOT NULL,
    PRIMARY KEY (campaign, seq)
);
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
);
INSERT INTO "ledger" VALUES(1,'c2d98ba85f66a896af4943fad0fe4ad9',1,0,0,4,'1',1,'read',5);
INSERT INTO "ledger" VALUES(2,'c2d98ba85f66a896af4943fad0fe4ad9',1,2,0,4,'1',2,'read',5);
INSERT INTO "ledger" VALUES(3,'c2d98ba85f66a896af4943fad0fe4ad9',1,1,0,4,'1',3,'read',5);
CREATE TABLE private_state (
    campaign VARCHAR(32) NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (campaign)
);
INSERT INTO "private_state" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',X'73FBEB0BE19BF589C18143FE43E0CF50FA7092A5F71E94415F551E99AE43FF8F88217DDB16A4B88DFD90CC7EC0D6BDE48FC0E399A12B27630EB44A734D6CCA2ABA36252BE3B3983C301C532012FC85D4171EE6E9F00CE7AA072E575DF6087C6EADD1F96FFFCD3C63A15A7B3FCFD1EDA39340EA3CF17026BC485DD321321CCC44012D16A2680C571E0509D1FFEABE17E2381932C320BA2D216C2AF4B7388E28D5E042A77645A4EDC9E2E1D71CE9FF7BE0F4BF6507C28C7804D3F9B526A21957B5646B43BEA4CCCFF152CC6A1C139A9274129560563E0055C69E7777A833A526D895413838BAD52C55460C8FB858B7967C16542EDB47F3FF8904A6BBA9507F65498763A0729F4538FC2C9AFC47B780803CB894055BF53EB53944373C56A0DD1D2F20B479190674CFCC7C8A365866F9E274533A655EDCDC98E6A36C16095FDAC1CECAB8299B2A990CABD0E36A390B3D86496C3354962471C92457399A1C');
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
);
INSERT INTO "release" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',1,1,'[0]','[[2.4248046875,4,1]]',12,1.79537905530125141148e+09,'0cc6745e33941bfa23526c41ef013c605c9ecb7b76c055fc8c7919c7366a20ec');
INSERT INTO "release" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',2,1,'[2]','[[3.8955078125,4,1]]',12,1.79537905530125141148e+09,'512bd6093bdbf6124ff29bfefb3bc611fd9582286d0f2c8b1d28e0e57853ecf1');
INSERT INTO "release" VALUES('c2d98ba85f66a896af4943fad0fe4ad9',3,1,'[1]','[[3.3681640625,4,1]]',12,1.79537905530125141148e+09,'33fae98a2191c9461a1a70da2d2b76b25c3a5c251187c31436b5d6c18b9fd2aa');
CREATE TABLE request (
    campaign VARCHAR(32) NOT NULL,
    principal VARCHAR(64) NOT NULL,
    "key" VARCHAR(200) NOT NULL,
    response TEXT NOT NULL,
    PRIMARY KEY (campaign, principal, "key")
);
CREATE TABLE scope (
    name VARCHAR(200) NOT NULL,
    epsilon TEXT NOT NULL,
    spent TEXT NOT NULL,
    PRIMARY KEY (name)
);
CREATE INDEX decision_moved ON decision (campaign, moved);
CREATE INDEX decision_pseudonym ON decision (pseudonym);
CREATE INDEX event_campaign ON event (campaign, id);
CREATE INDEX ledger_moved ON ledger (campaign, moved);
CREATE INDEX ledger_place ON ledger (campaign, generation, coordinate, start);
CREATE TRIGGER ledger_once BEFORE INSERT ON ledger WHEN NEW.kind = 'read' AND (
    SELECT stop FROM ledger WHERE campaign = NEW.campaign AND generation = NEW.generation
    AND coordinate = NEW.coordinate AND kind = 'read' AND start < NEW.stop ORDER BY start DESC LIMIT 1
) > NEW.start BEGIN SELECT RAISE(ABORT, 'a reward was read before'); END;
CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger BEGIN SELECT RAISE(ABORT, 'ledger is append only'); END;
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger BEGIN SELECT RAISE(ABORT, 'ledger is append only'); END;
CREATE TRIGGER release_no_update BEFORE UPDATE ON release BEGIN SELECT RAISE(ABORT, 'release is append only'); END;
CREATE TRIGGER release_no_delete BEFORE DELETE ON release BEGIN SELECT RAISE(ABORT, 'release is append only'); END;
COMMIT;
