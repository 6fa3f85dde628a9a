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
INSERT INTO "campaign" VALUES('ad4738ac988124dde7137176a1a46ab3','c','ad4738ac988124dde7137176a1a46ab3','{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4],"pending":[],"people":null,"plan_finished":null,"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 1), grid=1024, first=4, alpha=1.5, preset=''default'')"}}',1.79537719206624650958e+09);
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
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',1,1,0,'1',NULL,NULL,1,3.33333333333333314829e-01,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',2,1,0,'2',NULL,NULL,1,3.63636363636363646456e-01,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',3,1,0,'2',NULL,NULL,1,0.3,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',4,1,0,'0',NULL,NULL,1,4.44444444444444419772e-01,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',5,1,0,'1',NULL,NULL,1,0.375,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',6,1,0,'0',NULL,NULL,1,4.28571428571428547638e-01,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',7,1,0,'0',NULL,NULL,1,3.33333333333333314829e-01,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',8,1,0,'2',NULL,NULL,1,0.4,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',9,1,0,'1',NULL,NULL,1,0.5,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',10,1,0,'0',NULL,NULL,1,3.33333333333333314829e-01,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',11,1,0,'2',NULL,NULL,1,0.5,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',12,1,0,'1',NULL,NULL,1,1.0,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',13,1,0,'0',NULL,NULL,1,1.0,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'waiting',2);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',14,1,0,'1',NULL,NULL,1,1.0,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'waiting',2);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',15,1,0,'2',NULL,NULL,1,1.0,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'waiting',2);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',16,1,0,'0',NULL,NULL,1,1.0,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'waiting',2);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',17,1,0,'1',NULL,NULL,1,1.0,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'waiting',2);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',18,1,0,'2',NULL,NULL,1,1.0,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'waiting',2);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',19,1,0,'0',NULL,NULL,1,1.0,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'waiting',2);
INSERT INTO "decision" VALUES('ad4738ac988124dde7137176a1a46ab3',20,1,0,'1',NULL,NULL,1,1.0,NULL,1.79537719219407963756e+09,NULL,NULL,NULL,'waiting',2);
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
INSERT INTO "head" VALUES('ad4738ac988124dde7137176a1a46ab3',3,1,3,'44919cc5b5c1faf219c2a7b18dc41db96f125bb26ee700e094f430867b136d2b',0,'c0d28d4285318948b86320548477507aa8be0fe7f969ff94ea5fb98fcd89a5a6',20,8,'{"closed_window":null,"fresh_since":1,"session":{"arms":"aaa","asked":20,"asked_before_plan":20,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",1,[[1,2.4248046875,4,[[1,1]]]],[1,2.4248046875,4,[[1,1]]]],["1",1,[[1,3.3681640625,4,[[1,1]]]],[1,3.3681640625,4,[[1,1]]]],["2",1,[[1,3.8955078125,4,[[1,1]]]],[1,3.8955078125,4,[[1,1]]]]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,21,0],"pending":[],"people":null,"plan_finished":null,"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[2.4248046875,3.3681640625,3.8955078125],[4,4,4],[1,1,1],[4,4,4],[0,0,0],12],"step":3,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[7,7,6],"expected":[6.461652236652237,7.966774891774891,5.571572871572872],"highest":0.00029751557212875923,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.007373083456513996},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[[0,4],[1,4],[2,4]],"dropped":[],"releases":3},"records":12,"turns":3}}}',NULL);
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
INSERT INTO "ledger" VALUES(1,'ad4738ac988124dde7137176a1a46ab3',1,0,0,4,'1',1,'read',3);
INSERT INTO "ledger" VALUES(2,'ad4738ac988124dde7137176a1a46ab3',1,2,0,4,'1',2,'read',3);
INSERT INTO "ledger" VALUES(3,'ad4738ac988124dde7137176a1a46ab3',1,1,0,4,'1',3,'read',3);
CREATE TABLE private_state (
    campaign VARCHAR(32) NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (campaign)
);
INSERT INTO "private_state" VALUES('ad4738ac988124dde7137176a1a46ab3',X'739C2CB4714EBBA803604867795425E9E7BF4A6CCAEE798D9DD0D72C831DF981C33344B1E71D758486FDF28AC0250A8C0D6B31564645C5F938C6A720379BB76B16B40D08F424B96BF528624DAD8A76FD13461DEEE75AF723C10CA9BAF57B9BFA4B2D589326FBD1CC1197891D8AD7DD03A824C56DE102D1A20DCB991CB88F11B46FCBB733E53957320EE85ABF09F7FB65E2859C596B3F03B93781C2252896FFBB3701D92E82DBB0CB00825433AF59342F349B74214797CBDB42AC5A7846ED22F70AECB2381F4D16C7E73EEA9C85035A272313AC43CF8AE6E281947B164171141A4F40EAE072998E98CE82A3E1C89DC8DC4E5D16C9FF44DC91019AA0F21768BF79D3653048CCD2717592C8579E686B8C77CAA12DE3E21B5C458500849939214F6B0E76F86D46F06C73FC3AAB5A37AC3844DC6334682E2B1BE262E07F89DEBA1E4B6C4B7C241B4CC7110D9DF8680025C67F2A03A90247A828A9840BCB36');
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
INSERT INTO "release" VALUES('ad4738ac988124dde7137176a1a46ab3',1,1,'[0]','[[2.4248046875,4,1]]',20,1.79537719239823532102e+09,'3c736ec46685a1744d7a56fcfde5ffd4c4f0a5ee1e713de9843b8eef8f29a5ef');
INSERT INTO "release" VALUES('ad4738ac988124dde7137176a1a46ab3',2,1,'[2]','[[3.8955078125,4,1]]',20,1.79537719239823532102e+09,'82ad0b052302c91350fa3182371721461fa3247271275a33e9716521b58f7d0e');
INSERT INTO "release" VALUES('ad4738ac988124dde7137176a1a46ab3',3,1,'[1]','[[3.3681640625,4,1]]',20,1.79537719239823532102e+09,'44919cc5b5c1faf219c2a7b18dc41db96f125bb26ee700e094f430867b136d2b');
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
