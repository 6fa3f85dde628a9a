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
INSERT INTO "access_key" VALUES('9421f5b55ebd486118f2e72ad8ffb3da0450eda8509ac6d3fdc3b7e9de73c4fa','me','admin',NULL,1.79552627417307543757e+09,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0003');
CREATE TABLE campaign (
    uid VARCHAR(32) NOT NULL,
    name VARCHAR(200) NOT NULL,
    "group" VARCHAR(32) NOT NULL,
    options TEXT NOT NULL,
    created FLOAT NOT NULL,
    PRIMARY KEY (uid),
    UNIQUE (name)
);
INSERT INTO "campaign" VALUES('81a3706f0047d999f3f831a557be4c36','c','81a3706f0047d999f3f831a557be4c36','{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 1), grid=1024, first=4, alpha=1.5, preset=''default'')"}}',1790000000.0);
INSERT INTO "campaign" VALUES('4ad0583924551cce315fc0fc66334f6c','people','4ad0583924551cce315fc0fc66334f6c','{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":-1000000000000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":{"cap":2,"key":"12520bc0ff90fcf6651f53d60f07ed9e","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"attribution_window":"1:00:00","default":"0","max_contributions":"2","policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 2), grid=1024, first=4, alpha=1.5, preset=''default'')","privacy_unit":"user"}}',1790000000.0);
CREATE TABLE contribution (
    "group" VARCHAR(32) NOT NULL,
    pseudonym VARCHAR(32) NOT NULL,
    window BIGINT NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY ("group", pseudonym)
);
INSERT INTO "contribution" VALUES('4ad0583924551cce315fc0fc66334f6c','2056177adb54db1a9b44bfb2f5351415',0,1);
INSERT INTO "contribution" VALUES('4ad0583924551cce315fc0fc66334f6c','c495a14d17d1b7afdc8e25d094fe8ef1',0,1);
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
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',1,1,0,'1',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,-1919824649154597447);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',2,1,0,'2',NULL,NULL,1,3.63636363636363646456e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,-1919824649154597447);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',3,1,0,'2',NULL,NULL,1,0.3,NULL,1790000000.0,NULL,NULL,NULL,'told',3,-1919824649154597447);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',4,1,0,'0',NULL,NULL,1,4.44444444444444419772e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,-1919824649154597447);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',5,1,0,'1',NULL,NULL,1,0.375,NULL,1790000000.0,NULL,NULL,NULL,'told',3,-1919824649154597447);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',6,1,0,'0',NULL,NULL,1,4.28571428571428547638e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,-1919824649154597447);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',7,1,0,'0',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,-1919824649154597447);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',8,1,0,'2',NULL,NULL,1,0.4,NULL,1790000000.0,NULL,NULL,NULL,'told',3,-1919824649154597447);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',9,1,0,'1',NULL,NULL,1,0.5,NULL,1790000000.0,NULL,NULL,NULL,'told',5,-8078889949186889931);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',10,1,0,'0',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',5,-8078889949186889931);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',11,1,0,'2',NULL,NULL,1,0.5,NULL,1790000000.0,NULL,NULL,NULL,'told',5,-8078889949186889931);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',12,1,0,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'told',5,-8078889949186889931);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',13,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,4354338711274455003);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',14,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,4354338711274455003);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',15,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,4354338711274455003);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',16,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,4354338711274455003);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',17,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,4354338711274455003);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',18,1,3,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,4354338711274455003);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',19,1,3,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,4354338711274455003);
INSERT INTO "decision" VALUES('81a3706f0047d999f3f831a557be4c36',20,1,3,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,4354338711274455003);
INSERT INTO "decision" VALUES('4ad0583924551cce315fc0fc66334f6c',1,1,0,'1',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,1790003600.0,'2056177adb54db1a9b44bfb2f5351415',0,'waiting',2,-9067236736038574315);
INSERT INTO "decision" VALUES('4ad0583924551cce315fc0fc66334f6c',2,1,0,'2',NULL,NULL,1,3.63636363636363646456e-01,NULL,1790000000.0,1790003600.0,'c495a14d17d1b7afdc8e25d094fe8ef1',0,'waiting',3,4962450852464337492);
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
INSERT INTO "head" VALUES('81a3706f0047d999f3f831a557be4c36',6,1,3,'f61153404118190938554f0f949610e0d1d1a8219cd8f5db921a1e5689ee242f',3,'f61153404118190938554f0f949610e0d1d1a8219cd8f5db921a1e5689ee242f',20,8,'{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":20,"asked_before_plan":12,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",1,[[1,2.4248046875,4,[[1,1]]]],[1,2.4248046875,4,[[1,1]]]],["1",1,[[1,3.3681640625,4,[[1,1]]]],[1,3.3681640625,4,[[1,1]]]],["2",1,[[1,3.8955078125,4,[[1,1]]]],[1,3.8955078125,4,[[1,1]]]]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,1,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[1,20,22,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[2.4248046875,3.3681640625,3.8955078125],[4,4,4],[1,1,1],[4,4,4],[0,0,0],12],"step":3,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[4,4,4],"expected":[3.4616522366522373,4.966774891774891,3.571572871572872],"highest":0.00029751557229451694,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.007373083455263345},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[[0,4],[1,4],[2,4]],"dropped":[],"releases":3},"records":12,"turns":3}},"turns":["175223fae2a77efc","16d65c41678d7915","ee83cd68331705a3","66f27f60c761f3b6","6b10824f43b5b466","a49a43a4ee87dcfa"],"unseen":[]}',NULL);
INSERT INTO "head" VALUES('4ad0583924551cce315fc0fc66334f6c',4,1,0,'65f68eb6228afd627360634445312b63e6433aa5ea74726a5031cc0ad77343f4',0,'65f68eb6228afd627360634445312b63e6433aa5ea74726a5031cc0ad77343f4',2,2,'{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":2,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":1790000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,2,0.36363636363636365,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,0,0],"pending":[],"people":{"cap":2,"key":"12520bc0ff90fcf6651f53d60f07ed9e","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,1,1],"expected":[0.696969696969697,0.606060606060606,0.696969696969697],"highest":0.0,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.0008178472898956547},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},"turns":["adb47b9a41d3235a","64ad4a3f1ec191bd","bb9e524b52ab4845","4319a73816eab6ad"],"unseen":[]}',NULL);
CREATE TABLE held (
    campaign VARCHAR(32) NOT NULL,
    seq BIGINT NOT NULL,
    body BLOB NOT NULL,
    moved BIGINT NOT NULL,
    PRIMARY KEY (campaign, seq)
);
INSERT INTO "held" VALUES('4ad0583924551cce315fc0fc66334f6c',2,X'73CA9CE6A9D0F8A6C37E18998BA5BD45CAB57095AD10F6621074666B2B0354448F',4);
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
INSERT INTO "ledger" VALUES(1,'81a3706f0047d999f3f831a557be4c36',1,0,0,4,'1',1,'read',5);
INSERT INTO "ledger" VALUES(2,'81a3706f0047d999f3f831a557be4c36',1,2,0,4,'1',2,'read',5);
INSERT INTO "ledger" VALUES(3,'81a3706f0047d999f3f831a557be4c36',1,1,0,4,'1',3,'read',5);
CREATE TABLE private_state (
    campaign VARCHAR(32) NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (campaign)
);
INSERT INTO "private_state" VALUES('81a3706f0047d999f3f831a557be4c36',X'73A6CDBEDC75FEDC9B974EA81CBCE61404A9BE374F470C1BD899BF01DE3DF0DF74CE4288CB9555427741C8002CB4E1264E416A289A6C5021509F8F1E7AA63E0A53FA7268DE07B62A22570C0750CAA1357D0C3EF0A30F8C05C1264C2458AEAD545B0853A211BB64833DCD4BF61254FDCB19A0B332643BDB38C065D11DEFE9ACD0E92EB5998461DE71C8D6B4703E0D01FE8FBCAC5CFCC86D4BDED57F83D1C054038EEF0048CEA0174D28F9340F24F13EDCA74B165A8F5808F7C4C92D5CC63713E219A1A06B0AF00177DCADB3AF2C405E5FF9C0F7048EDD1C112BDD66659C2130547987F8FEACDD5989CEA2F872B476D2313A0DE2E4A4B65E6DFCAACA426904CBAF7D388EBB71A734CF584A0E53051730DEAC475FC007FA4B2560733580ACD358420B3837EDFF74032F090D58C74AA5D5529805BA7DB6B008CC1BC4A5B2D72E2C7F47AADA729FCA3785974EF02AB8015A7E74DB1EC80289ADAD574E96FE');
INSERT INTO "private_state" VALUES('4ad0583924551cce315fc0fc66334f6c',X'7314EB9195FC9AA50AF4DEECDA44A651EEB31220D959A4CB0BF0F74E9AC681A2276BB18FDA8B8C3F42893C14AE0CD5A19B7BF980A7C29E7008D78625D0293DC3C0A7ACE694CE27CFC338659E7D2BEFBB9EE137D8F0B8A67A7FB59F593D324800358BE53A2A021515451944B55FE191864AFF6051C0244DBBEBA47E6DC4E78429DA832852F3F542850C515E2CB719F9646130041646778D0751871B1A1ECB2D7F3798BF46EAC5F48601D5798E5EDEBDEF0828008CB0916759A6B0325E6156B0445539CDF29A766D933BA2E24F7F1AC6AA2C15CF108F5F9201701A9CEF658F7225C4DD593F92ECE7FA55ED1922E1B6534107306063D489D52D4671A2AC0665FDB7E5811EE1A590628DD74D156606D97D3D90402F98D42FDF46576E32130A5A71D2A8144699B2E33096A5F822DE810E67E6ACF6A4A7480931514AED7B15AB600DF6008782981AB705553756153DE647A827CCE757');
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
INSERT INTO "release" VALUES('81a3706f0047d999f3f831a557be4c36',1,1,'[0]','[[2.4248046875,4,1]]',12,1790000000.0,'2280537836662ed0a1d399fe79c5936ad10b701b2b2e633de73dec103314baaf');
INSERT INTO "release" VALUES('81a3706f0047d999f3f831a557be4c36',2,1,'[2]','[[3.8955078125,4,1]]',12,1790000000.0,'d3ece80942fb2d42a2e7c634eefe9bbed3877f40230913dd3c596f3b38c6854e');
INSERT INTO "release" VALUES('81a3706f0047d999f3f831a557be4c36',3,1,'[1]','[[3.3681640625,4,1]]',12,1790000000.0,'f61153404118190938554f0f949610e0d1d1a8219cd8f5db921a1e5689ee242f');
CREATE TABLE request (
    campaign VARCHAR(32) NOT NULL,
    principal VARCHAR(64) NOT NULL,
    "key" VARCHAR(200) NOT NULL,
    response TEXT NOT NULL,
    PRIMARY KEY (campaign, principal, "key")
);
INSERT INTO "request" VALUES('4ad0583924551cce315fc0fc66334f6c','','visit','["86eca91dad3502a50971debf1ed37bac434d5f7f1905ef18a76d28056d119cde",[["b308184abae46dd25053dafd2238dfbf",1,1,null,"people",null,true,0.3333333333333333]]]');
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
