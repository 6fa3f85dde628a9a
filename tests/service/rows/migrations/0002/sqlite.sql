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
INSERT INTO "access_key" VALUES('ebc0b512bdee372bc9ea2540df35c71af803ca965e2b6f35d0e7445fcc5a96b7','me','admin',NULL,1.7955255119386515617e+09,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002');
CREATE TABLE campaign (
    uid VARCHAR(32) NOT NULL,
    name VARCHAR(200) NOT NULL,
    "group" VARCHAR(32) NOT NULL,
    options TEXT NOT NULL,
    created FLOAT NOT NULL,
    PRIMARY KEY (uid),
    UNIQUE (name)
);
INSERT INTO "campaign" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e','c','17d2f54177cef8f7ee15db3a8bbf4f6e','{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 1), grid=1024, first=4, alpha=1.5, preset=''default'')"}}',1790000000.0);
INSERT INTO "campaign" VALUES('3afe079daf506ff6db4a39d7c0a45439','people','3afe079daf506ff6db4a39d7c0a45439','{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":-1000000000000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":{"cap":2,"key":"58fa6e4766bce465f1fc68cb5ca7d714","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"attribution_window":"1:00:00","default":"0","max_contributions":"2","policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 2), grid=1024, first=4, alpha=1.5, preset=''default'')","privacy_unit":"user"}}',1790000000.0);
CREATE TABLE contribution (
    "group" VARCHAR(32) NOT NULL,
    pseudonym VARCHAR(32) NOT NULL,
    window BIGINT NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY ("group", pseudonym)
);
INSERT INTO "contribution" VALUES('3afe079daf506ff6db4a39d7c0a45439','b61f84bd933638073c04e8c8d1192e6f',0,1);
INSERT INTO "contribution" VALUES('3afe079daf506ff6db4a39d7c0a45439','7de9471e007eab6d0eb5f71e415c5967',0,1);
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
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',1,1,0,'1',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',2,1,0,'2',NULL,NULL,1,3.63636363636363646456e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',3,1,0,'2',NULL,NULL,1,0.3,NULL,1790000000.0,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',4,1,0,'0',NULL,NULL,1,4.44444444444444419772e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',5,1,0,'1',NULL,NULL,1,0.375,NULL,1790000000.0,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',6,1,0,'0',NULL,NULL,1,4.28571428571428547638e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',7,1,0,'0',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',8,1,0,'2',NULL,NULL,1,0.4,NULL,1790000000.0,NULL,NULL,NULL,'told',3);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',9,1,0,'1',NULL,NULL,1,0.5,NULL,1790000000.0,NULL,NULL,NULL,'told',5);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',10,1,0,'0',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',5);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',11,1,0,'2',NULL,NULL,1,0.5,NULL,1790000000.0,NULL,NULL,NULL,'told',5);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',12,1,0,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'told',5);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',13,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',14,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',15,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',16,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',17,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',18,1,3,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',19,1,3,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',20,1,3,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6);
INSERT INTO "decision" VALUES('3afe079daf506ff6db4a39d7c0a45439',1,1,0,'1',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,1790003600.0,'b61f84bd933638073c04e8c8d1192e6f',0,'waiting',2);
INSERT INTO "decision" VALUES('3afe079daf506ff6db4a39d7c0a45439',2,1,0,'2',NULL,NULL,1,3.63636363636363646456e-01,NULL,1790000000.0,1790003600.0,'7de9471e007eab6d0eb5f71e415c5967',0,'waiting',3);
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
INSERT INTO "head" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',6,1,3,'f7b3bf16acd02708f7f2b259c957308311e3a093db6ca45e105efc8621d25920',3,'f7b3bf16acd02708f7f2b259c957308311e3a093db6ca45e105efc8621d25920',20,8,'{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":20,"asked_before_plan":12,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",1,[[1,2.4248046875,4,[[1,1]]]],[1,2.4248046875,4,[[1,1]]]],["1",1,[[1,3.3681640625,4,[[1,1]]]],[1,3.3681640625,4,[[1,1]]]],["2",1,[[1,3.8955078125,4,[[1,1]]]],[1,3.8955078125,4,[[1,1]]]]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,1,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[1,20,22,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[2.4248046875,3.3681640625,3.8955078125],[4,4,4],[1,1,1],[4,4,4],[0,0,0],12],"step":3,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[4,4,4],"expected":[3.4616522366522373,4.966774891774891,3.571572871572872],"highest":0.00029751557229451694,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.007373083455263345},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[[0,4],[1,4],[2,4]],"dropped":[],"releases":3},"records":12,"turns":3}},"turns":["3e220934c3537f22","c3a5ded850ae31e6","cb0290ae3b9adf95","dae28b3620939b3e","a78776f41fb686b5","cb736bedf98e14bd"],"unseen":[]}',NULL);
INSERT INTO "head" VALUES('3afe079daf506ff6db4a39d7c0a45439',4,1,0,'a96487c69c345f4c77634f317348d09b2f2d01e6034455a6a63745c82f550a85',0,'a96487c69c345f4c77634f317348d09b2f2d01e6034455a6a63745c82f550a85',2,2,'{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":2,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":1790000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,2,0.36363636363636365,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,0,0],"pending":[],"people":{"cap":2,"key":"58fa6e4766bce465f1fc68cb5ca7d714","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,1,1],"expected":[0.696969696969697,0.606060606060606,0.696969696969697],"highest":0.0,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.0008178472898956547},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},"turns":["bd0cdcc5be9abc16","b51934c21571fc10","95bd98a402f860cd","9500ba25dc1ff2cb"],"unseen":[]}',NULL);
CREATE TABLE held (
    campaign VARCHAR(32) NOT NULL,
    seq BIGINT NOT NULL,
    body BLOB NOT NULL,
    moved BIGINT NOT NULL,
    PRIMARY KEY (campaign, seq)
);
INSERT INTO "held" VALUES('3afe079daf506ff6db4a39d7c0a45439',2,X'736EEE57514666D6A7DE6D7D182E0C93DFA8B7684C24EEFE04921F068F4B8317DD',4);
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
INSERT INTO "ledger" VALUES(1,'17d2f54177cef8f7ee15db3a8bbf4f6e',1,0,0,4,'1',1,'read',5);
INSERT INTO "ledger" VALUES(2,'17d2f54177cef8f7ee15db3a8bbf4f6e',1,2,0,4,'1',2,'read',5);
INSERT INTO "ledger" VALUES(3,'17d2f54177cef8f7ee15db3a8bbf4f6e',1,1,0,4,'1',3,'read',5);
CREATE TABLE private_state (
    campaign VARCHAR(32) NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (campaign)
);
INSERT INTO "private_state" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',X'73133007BDB7C8B587C06820293C117744E5A696D2C0780ED46558DF85BBC8B9A0F1DC02DD3C8598D71E21A0C63D54BA1C304A74E73370CEAECFCA6EBFE71C8059711FD44B96A6DBD484157C3B22AA6CE0A836C6BDA9F873EEC59B3E0775682AD1A66E8A5CE32294230B64AE301CF2650717A41F43E93EBCFEF1C30C567882D10EAB0BBAF68EE8EB22D761665DF9C81DAAD76B26900A22146AD27AF0A4C255C952100F16F91BC565ED8D7B51F6BA3230DDC3D624E092F96F04AB7AEEDBC451A2FC1CD06B4586813665A4C29B56E43E377CC0FA85B4077827C06095965B3B53C1C0F3204F32EB8AB5527C01B555D78B7EBB3BDD27E8F1A0BC609A92438D9239F3CEF47765BFDBB2434ACA4BDC370BB0558EF4F59367F227E6CE696840F4953A2E55376BB83833CB89A15B81487DE0ACB6330D004DD8542E775A6F442662DECB4DE941F8FE423F7A79E1A88909C43D975BBF607B337E6099E0890A04FD');
INSERT INTO "private_state" VALUES('3afe079daf506ff6db4a39d7c0a45439',X'73FD88A8763AA8000AAFAA37ACC1410E693038942A560443A6681BA556B5265762BC89B05C13F2A76DE58DF286DECEF3D661408E3F6810A0A707DEEACE44CBE7305C649AC6DAD9F9416F04CD5C4F80261AB880AE84C344FE456071912D2E2D903425CCBF2532B7FC00DBBCB995A0E88C5000AC27B538BAA39F3CE9A6D8EAF578E72AEE03A44F2E4BF5F49B046032902B4647872FD314647263CF876EF83CE0255F1EA00BE000E754FB284D43AA292DCEC6810778E5A3F62C05C48BAB20BC5E4A1B4C8ACD8FD5B7F785E57B9EBCEE51C45BD94E033B60F3DFA74754DD837C96389F6B9E261E90AB2C9AB11A0578293F355E3CCBFF7EFC0FF1311559F02D04C95B47B7616DC0742760BAEC40B9D49391865F70182E37650F631A741EDF11B81E0B495D384826DFE76621F21FD1FCE53D6F0258716E01D05A1F5DE974D54CA6BCB2E39D2280963BD4BC54994358B180181ADF462D');
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
INSERT INTO "release" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',1,1,'[0]','[[2.4248046875,4,1]]',12,1790000000.0,'917eb075cebd707af58fe3777d40b1ab5d8a10089ccde2fc780bf677f95a0ffa');
INSERT INTO "release" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',2,1,'[2]','[[3.8955078125,4,1]]',12,1790000000.0,'343e9e03010925f211a9eec0d843f38fe08ec25b15e7012d736e6070befe2366');
INSERT INTO "release" VALUES('17d2f54177cef8f7ee15db3a8bbf4f6e',3,1,'[1]','[[3.3681640625,4,1]]',12,1790000000.0,'f7b3bf16acd02708f7f2b259c957308311e3a093db6ca45e105efc8621d25920');
CREATE TABLE request (
    campaign VARCHAR(32) NOT NULL,
    principal VARCHAR(64) NOT NULL,
    "key" VARCHAR(200) NOT NULL,
    response TEXT NOT NULL,
    PRIMARY KEY (campaign, principal, "key")
);
INSERT INTO "request" VALUES('3afe079daf506ff6db4a39d7c0a45439','','visit','["95e63f59d9b4c749a5972806a481d227b0f14a5a820870736c9a1b5657e1ccb5",[["1c556b5d5df0aebfb573c7f474bd5bf2",1,1,null,"people",null,true,0.3333333333333333]]]');
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
COMMIT;
