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
INSERT INTO "access_key" VALUES('090b88e4c5be0aa52e8131f462ac5d3c5f373d1d14c5ec20314a793572195839','me','admin',NULL,1.79570118695613574976e+09,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0004');
CREATE TABLE campaign (
    uid VARCHAR(32) NOT NULL,
    name VARCHAR(200) NOT NULL,
    "group" VARCHAR(32) NOT NULL,
    options TEXT NOT NULL,
    created FLOAT NOT NULL,
    PRIMARY KEY (uid),
    UNIQUE (name)
);
INSERT INTO "campaign" VALUES('8f8268456be3e0b3fe29377e931c2930','c','8f8268456be3e0b3fe29377e931c2930','{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 1), grid=1024, first=4, alpha=1.5, preset=''default'')"}}',1790000000.0);
INSERT INTO "campaign" VALUES('5d9fb14b395d9e388433de169ac00b02','people','5d9fb14b395d9e388433de169ac00b02','{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":-1000000000000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":{"cap":2,"key":"b3f119cab35e89e9951a7d4f5cdf432d","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"attribution_window":"1:00:00","default":"0","max_contributions":"2","policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 2), grid=1024, first=4, alpha=1.5, preset=''default'')","privacy_unit":"user"}}',1790000000.0);
CREATE TABLE contribution (
    "group" VARCHAR(32) NOT NULL,
    pseudonym VARCHAR(32) NOT NULL,
    window BIGINT NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY ("group", pseudonym)
);
INSERT INTO "contribution" VALUES('5d9fb14b395d9e388433de169ac00b02','8c137174f2dec3bd3c3cacc26c4a2c5e',0,1);
INSERT INTO "contribution" VALUES('5d9fb14b395d9e388433de169ac00b02','eb87949c756d8642ad08f863eb63effc',0,1);
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
    moved BIGINT NOT NULL, nonce BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (campaign, seq)
);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',1,1,0,'1',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5558920410456630881);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',2,1,0,'2',NULL,NULL,1,3.63636363636363646456e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5558920410456630881);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',3,1,0,'2',NULL,NULL,1,0.3,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5558920410456630881);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',4,1,0,'0',NULL,NULL,1,4.44444444444444419772e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5558920410456630881);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',5,1,0,'1',NULL,NULL,1,0.375,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5558920410456630881);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',6,1,0,'0',NULL,NULL,1,4.28571428571428547638e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5558920410456630881);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',7,1,0,'0',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5558920410456630881);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',8,1,0,'2',NULL,NULL,1,0.4,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5558920410456630881);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',9,1,0,'1',NULL,NULL,1,0.5,NULL,1790000000.0,NULL,NULL,NULL,'told',5,1087384466846099176);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',10,1,0,'0',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',5,1087384466846099176);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',11,1,0,'2',NULL,NULL,1,0.5,NULL,1790000000.0,NULL,NULL,NULL,'told',5,1087384466846099176);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',12,1,0,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'told',5,1087384466846099176);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',13,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-1978602852281857437);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',14,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-1978602852281857437);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',15,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-1978602852281857437);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',16,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-1978602852281857437);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',17,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-1978602852281857437);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',18,1,3,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-1978602852281857437);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',19,1,3,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-1978602852281857437);
INSERT INTO "decision" VALUES('8f8268456be3e0b3fe29377e931c2930',20,1,3,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-1978602852281857437);
INSERT INTO "decision" VALUES('5d9fb14b395d9e388433de169ac00b02',1,1,0,'1',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,1790003600.0,'8c137174f2dec3bd3c3cacc26c4a2c5e',0,'waiting',2,-3688925345218292390);
INSERT INTO "decision" VALUES('5d9fb14b395d9e388433de169ac00b02',2,1,0,'2',NULL,NULL,1,3.63636363636363646456e-01,NULL,1790000000.0,1790003600.0,'eb87949c756d8642ad08f863eb63effc',0,'waiting',3,-1177440780965140372);
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
INSERT INTO "head" VALUES('8f8268456be3e0b3fe29377e931c2930',6,1,3,'1547a5571542f0d882f83b329c9163c589ee3fc4096b40f2f1ee15669693f6b9',3,'1547a5571542f0d882f83b329c9163c589ee3fc4096b40f2f1ee15669693f6b9',20,8,'{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":20,"asked_before_plan":12,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",1,[[1,2.4248046875,4,[[1,1]]]],[1,2.4248046875,4,[[1,1]]]],["1",1,[[1,3.3681640625,4,[[1,1]]]],[1,3.3681640625,4,[[1,1]]]],["2",1,[[1,3.8955078125,4,[[1,1]]]],[1,3.8955078125,4,[[1,1]]]]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,1,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[1,20,22,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[2.4248046875,3.3681640625,3.8955078125],[4,4,4],[1,1,1],[4,4,4],[0,0,0],12],"step":3,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[4,4,4],"expected":[3.4616522366522373,4.966774891774891,3.571572871572872],"highest":0.00029751557229451694,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.007373083455263345},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[[0,4],[1,4],[2,4]],"dropped":[],"releases":3},"records":12,"turns":3}},"turns":["5db1b9fa2f5ea7cd","fc0d680abb3c57f2","d16dda9f645cc895","a9f3ef2a792b3de8","f93d6f28f03b1622","c70b5ba69c51935e"],"unseen":[]}',NULL);
INSERT INTO "head" VALUES('5d9fb14b395d9e388433de169ac00b02',3,1,0,'cbac35f949d89e67d4b917b4acd9bd0217e89d1306945c6e3ca4501b57719d5c',0,'cbac35f949d89e67d4b917b4acd9bd0217e89d1306945c6e3ca4501b57719d5c',2,2,'{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":2,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":1790000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,2,0.36363636363636365,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,0,0],"pending":[],"people":{"cap":2,"key":"b3f119cab35e89e9951a7d4f5cdf432d","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,1,1],"expected":[0.696969696969697,0.606060606060606,0.696969696969697],"highest":0.0,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.0008178472898956547},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},"turns":["d66d7e515ce82d2d","4be325ca1ee7d323","d0fee386ffb5d8b0"],"unseen":[]}',NULL);
CREATE TABLE held (
    campaign VARCHAR(32) NOT NULL,
    seq BIGINT NOT NULL,
    body BLOB NOT NULL,
    moved BIGINT NOT NULL,
    PRIMARY KEY (campaign, seq)
);
INSERT INTO "held" VALUES('5d9fb14b395d9e388433de169ac00b02',2,X'73338C53068805AFF3DD51947921D069BC9712356BE65422B1A3881EBADFC4A2FC',2);
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
INSERT INTO "ledger" VALUES(1,'8f8268456be3e0b3fe29377e931c2930',1,0,0,4,'1',1,'read',5);
INSERT INTO "ledger" VALUES(2,'8f8268456be3e0b3fe29377e931c2930',1,2,0,4,'1',2,'read',5);
INSERT INTO "ledger" VALUES(3,'8f8268456be3e0b3fe29377e931c2930',1,1,0,4,'1',3,'read',5);
CREATE TABLE newest (
	campaign VARCHAR(32) NOT NULL, 
	pseudonym VARCHAR(32) NOT NULL, 
	seq BIGINT NOT NULL, 
	arm INTEGER NOT NULL, 
	PRIMARY KEY (campaign, pseudonym)
);
CREATE TABLE private_state (
    campaign VARCHAR(32) NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (campaign)
);
INSERT INTO "private_state" VALUES('8f8268456be3e0b3fe29377e931c2930',X'73B7D26201160408C9967F7C1B0A5301111E28D9436CF8F4D670F5593CA4C4A79C70109598215393CC2E4BDF0E255A929A9A8AF29B41F9D9EB9D1EEE2BEC04EE0922FE0E9672412038E15E8D17338E01091038F87F3C26480C44C26ECC44B8FD120B30D7209AF55B916A01B8DDD66C36C7307CFA59908497CAB3BF83C9202179596C7D699D9C4D2C5235F7467039AE9A6A5B0F2C93FFA325C36F1402D58C9BBB1F49949A38D40D6DB11087ED5BFFC434A0EDD589EC6AD507E6AE3393E8C3461773FD64129E4F4682DAC571F310C772A4C8130ED67C6964946BCDF665FFB856AC96E1BE11C4FBC3BD7D51FDC431ABB3C6B19AD614FB7EA4A77E21C6EDF2FD20D1972974C45F3E7CBB3879EED89FA2BACF90A3AE39FF57E37E03A2FA23D4F0890F33C482F8251769277B4F553B856F626E0B111AD4D1ECA82C9A96D7A284B0759A875847C978FC14EDD6204F24C7BB98BC468629C83E9506EFE2D593BA1DEBC773659D79D9E1AD4383FEF9D0B74B41EB3A2B');
INSERT INTO "private_state" VALUES('5d9fb14b395d9e388433de169ac00b02',X'73628C3A913830A9E90E3E7A4DEFC38E564EFE3C96D2CE53BDDA334FA6775505373F38275B8C1789C623B4807E3844A702E4E136B5D91858EAAB9E798BF953B461A1413A8738D0A3ECEB64BC8C5EF13EACF07FDB06256E3CBCE8671727D4090E165112E342A8B9D5354ABAB034A7357CE46A8B940F35DA2AC84F83CA20CB9973FF65EA6E9CB6951DFD8CA4312B51175E7280F45D4F5A6728363FB43EE487206394C4193F0697590205FA8AC553EE2B34EF8E0041E39B4EF8C19E368A6D871AFF668D15DD5AE67846EACDD8AC4473BEAD366A54A8D1AFB08C4E9D199188775D454357FF69D94A3CC0FCF60F1A5071947C1BC797FD4A0A107178D94B7F19FE9807B71D7D77D3E2EFA1AC22B546B798FF2E7D233BCF3B7ABE24B9B4E4B15374DBC544FC654931D6D4892846C6B0A1511321290B758425D51FC983E643EED02BF1E97A93DD3F18D58236AF9B0D79817FAC064F16B0ABF60CE6EB5D8D30C84511838A4C8488CD07EF89DB');
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
INSERT INTO "release" VALUES('8f8268456be3e0b3fe29377e931c2930',1,1,'[0]','[[2.4248046875,4,1]]',12,1790000000.0,'3018e307b9fa1e9f44617677ee798363f0a862042c6cc8bacd72206f23fc5721');
INSERT INTO "release" VALUES('8f8268456be3e0b3fe29377e931c2930',2,1,'[2]','[[3.8955078125,4,1]]',12,1790000000.0,'be3a1f00323e0399b5e95f1015530d5c8fd0837d65bee0fa847d6060069e2f91');
INSERT INTO "release" VALUES('8f8268456be3e0b3fe29377e931c2930',3,1,'[1]','[[3.3681640625,4,1]]',12,1790000000.0,'1547a5571542f0d882f83b329c9163c589ee3fc4096b40f2f1ee15669693f6b9');
CREATE TABLE request (
    campaign VARCHAR(32) NOT NULL,
    principal VARCHAR(64) NOT NULL,
    "key" VARCHAR(200) NOT NULL,
    response TEXT NOT NULL,
    PRIMARY KEY (campaign, principal, "key")
);
INSERT INTO "request" VALUES('5d9fb14b395d9e388433de169ac00b02','','visit','["1d5f466c011da65655b29eb79c1b099385236ec3c2ac1fd6d560c2ec8479afed",[["84e13f8073ae13de197c2ad88edc5c6b",1,1,null,"people",null,true,0.3333333333333333]]]');
CREATE TABLE scope (
    name VARCHAR(200) NOT NULL,
    epsilon TEXT NOT NULL,
    spent TEXT NOT NULL,
    PRIMARY KEY (name)
);
INSERT INTO "scope" VALUES('all','2','1');
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
CREATE INDEX decision_waiting ON decision (campaign, seq) WHERE status = 'waiting';
CREATE TRIGGER ledger_no_replace BEFORE INSERT ON ledger WHEN EXISTS (SELECT 1 FROM ledger WHERE id = NEW.id) BEGIN SELECT RAISE(ABORT, 'ledger is append only'); END;
CREATE TRIGGER release_no_replace BEFORE INSERT ON release WHEN EXISTS (SELECT 1 FROM release WHERE campaign = NEW.campaign AND step = NEW.step) BEGIN SELECT RAISE(ABORT, 'release is append only'); END;
COMMIT;
