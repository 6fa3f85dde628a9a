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
INSERT INTO "access_key" VALUES('76a212563ac93964c6cd07f678ccce8febd8f9f4d355ec834d224b383d07b911','me','admin',NULL,1.79579397594251012797e+09,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0005_scope_kind');
CREATE TABLE campaign (
    uid VARCHAR(32) NOT NULL,
    name VARCHAR(200) NOT NULL,
    "group" VARCHAR(32) NOT NULL,
    options TEXT NOT NULL,
    created FLOAT NOT NULL,
    PRIMARY KEY (uid),
    UNIQUE (name)
);
INSERT INTO "campaign" VALUES('8668d7f78d9f59b84b6473f4d936d293','c','8668d7f78d9f59b84b6473f4d936d293','{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 1), grid=1024, first=4, alpha=1.5, preset=''default'')"}}',1790000000.0);
INSERT INTO "campaign" VALUES('7a4c70aa64d21238fff98167e75519b7','people','7a4c70aa64d21238fff98167e75519b7','{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":-1000000000000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":{"cap":2,"key":"dfbc205f4a992a72c7b2da3147a19d21","latest":-1000000000000000.0,"owners":[],"typed":false,"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"attribution_window":"1:00:00","default":"0","max_contributions":"2","policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 2), grid=1024, first=4, alpha=1.5, preset=''default'')","privacy_unit":"user"}}',1790000000.0);
CREATE TABLE contribution (
    "group" VARCHAR(32) NOT NULL,
    pseudonym VARCHAR(32) NOT NULL,
    window BIGINT NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY ("group", pseudonym)
);
INSERT INTO "contribution" VALUES('7a4c70aa64d21238fff98167e75519b7','a505b94fb8b1c7ad0d1bc62ef6a9aedf',0,1);
INSERT INTO "contribution" VALUES('7a4c70aa64d21238fff98167e75519b7','9b644f3a83b512ba2a1d94b412839b77',0,1);
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
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',1,1,0,'1',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5567762572231802112);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',2,1,0,'2',NULL,NULL,1,3.63636363636363646456e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5567762572231802112);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',3,1,0,'2',NULL,NULL,1,0.3,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5567762572231802112);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',4,1,0,'0',NULL,NULL,1,4.44444444444444419772e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5567762572231802112);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',5,1,0,'1',NULL,NULL,1,0.375,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5567762572231802112);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',6,1,0,'0',NULL,NULL,1,4.28571428571428547638e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5567762572231802112);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',7,1,0,'0',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5567762572231802112);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',8,1,0,'2',NULL,NULL,1,0.4,NULL,1790000000.0,NULL,NULL,NULL,'told',3,5567762572231802112);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',9,1,0,'1',NULL,NULL,1,0.5,NULL,1790000000.0,NULL,NULL,NULL,'told',5,-7742510191264897594);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',10,1,0,'0',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,NULL,NULL,NULL,'told',5,-7742510191264897594);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',11,1,0,'2',NULL,NULL,1,0.5,NULL,1790000000.0,NULL,NULL,NULL,'told',5,-7742510191264897594);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',12,1,0,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'told',5,-7742510191264897594);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',13,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-8869655103246539083);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',14,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-8869655103246539083);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',15,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-8869655103246539083);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',16,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-8869655103246539083);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',17,1,3,'0',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-8869655103246539083);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',18,1,3,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-8869655103246539083);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',19,1,3,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-8869655103246539083);
INSERT INTO "decision" VALUES('8668d7f78d9f59b84b6473f4d936d293',20,1,3,'1',NULL,NULL,1,1.0,NULL,1790000000.0,NULL,NULL,NULL,'waiting',6,-8869655103246539083);
INSERT INTO "decision" VALUES('7a4c70aa64d21238fff98167e75519b7',1,1,0,'1',NULL,NULL,1,3.33333333333333314829e-01,NULL,1790000000.0,1790003600.0,'a505b94fb8b1c7ad0d1bc62ef6a9aedf',0,'waiting',2,6723464345740972480);
INSERT INTO "decision" VALUES('7a4c70aa64d21238fff98167e75519b7',2,1,0,'2',NULL,NULL,1,3.63636363636363646456e-01,NULL,1790000000.0,1790003600.0,'9b644f3a83b512ba2a1d94b412839b77',0,'waiting',3,4526591773746560197);
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
INSERT INTO "head" VALUES('8668d7f78d9f59b84b6473f4d936d293',6,1,3,'e3801fb53b116ae485c8b6ee67609d0b2d11e3f1e15c48bc17058c21550ec598',3,'e3801fb53b116ae485c8b6ee67609d0b2d11e3f1e15c48bc17058c21550ec598',20,8,'{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":20,"asked_before_plan":12,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",1,[[1,2.4248046875,4,[[1,1]]]],[1,2.4248046875,4,[[1,1]]]],["1",1,[[1,3.3681640625,4,[[1,1]]]],[1,3.3681640625,4,[[1,1]]]],["2",1,[[1,3.8955078125,4,[[1,1]]]],[1,3.8955078125,4,[[1,1]]]]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,1,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[1,20,22,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[2.4248046875,3.3681640625,3.8955078125],[4,4,4],[1,1,1],[4,4,4],[0,0,0],12],"step":3,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[4,4,4],"expected":[3.4616522366522373,4.966774891774891,3.571572871572872],"highest":0.00029751557229451694,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.007373083455263345},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[[0,4],[1,4],[2,4]],"dropped":[],"releases":3},"records":12,"turns":3}},"turns":["b8f4d44e42c6f11d","da37ccf2ad41ff0e","8fd1cbd92b95f3ad","1aa42098afc4d530","0c25bb2ba1753ef2","ee6207ca3e37992a"],"unseen":[]}',NULL);
INSERT INTO "head" VALUES('7a4c70aa64d21238fff98167e75519b7',3,1,0,'6ca8ac9e8ed6765ebe1d2d41f10912fe6a728f17b75d464764aa20cc096c50b3',0,'6ca8ac9e8ed6765ebe1d2d41f10912fe6a728f17b75d464764aa20cc096c50b3',2,2,'{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":2,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":1790000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,2,0.36363636363636365,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,0,0],"pending":[],"people":{"cap":2,"key":"dfbc205f4a992a72c7b2da3147a19d21","latest":-1000000000000000.0,"owners":[],"typed":false,"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,1,1],"expected":[0.696969696969697,0.606060606060606,0.696969696969697],"highest":0.0,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.0008178472898956547},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},"turns":["c0c27d3846709a65","3dde92f28448b6ec","488cb4f24521c934"],"unseen":[]}',NULL);
CREATE TABLE held (
    campaign VARCHAR(32) NOT NULL,
    seq BIGINT NOT NULL,
    body BLOB NOT NULL,
    moved BIGINT NOT NULL,
    PRIMARY KEY (campaign, seq)
);
INSERT INTO "held" VALUES('7a4c70aa64d21238fff98167e75519b7',2,X'735FDF195CD29744E8266C783CE68D0DB711D05989861330B9BF4D036968932CB2',2);
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
INSERT INTO "ledger" VALUES(1,'8668d7f78d9f59b84b6473f4d936d293',1,0,0,4,'1',1,'read',5);
INSERT INTO "ledger" VALUES(2,'8668d7f78d9f59b84b6473f4d936d293',1,2,0,4,'1',2,'read',5);
INSERT INTO "ledger" VALUES(3,'8668d7f78d9f59b84b6473f4d936d293',1,1,0,4,'1',3,'read',5);
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
INSERT INTO "private_state" VALUES('8668d7f78d9f59b84b6473f4d936d293',X'7325873F30972AC15D2CFF55000CC55F6DD9568E4AC86A1F6BA832AA939CFA8D79971507C962928ED955B2765615694B96878E9B185B11CA93869E532990B139A4C3A98E0D48D6472722CEFF8DF245C8CA985857D4842FF96109BD5450FDA7CE43EAA42B3403B8210A78451F2B850A76BE3F6AAC9CD8743FAADDBD6A7F0EAB7C2D43BA7EB195434F176324D37041459067113EF0C55D68A619F2377AF298A78BD6702EFDE8FE06F31805813604E66400B9769D9C297C95886A96A56C5C17A059DDB22D362DB18786606B3E47E9C899974B1B436FDEB10CE1CA61CE268D8101BFEDF12E8E860262312F9015CE3B847B0B118251FEE69E890A2F4BD1CD3510E3EAD28894C5894B926511C32C119040C749493A1BD5C8CC80241C563E4D2EB1E8EC29605DD0D5D5A1CAC17C04FB86DA554AD1C9562FB6E3BBCCD7DD1C24837C801A817BE6D675CBE9DF63EAACED3BE73913C7E836F3AF0479AEB594DC46F15237F2D18AD03B9F5254203A158430C6884E0E97');
INSERT INTO "private_state" VALUES('7a4c70aa64d21238fff98167e75519b7',X'7378952006089D7FC800EDF0156C8EDA86FCBF8A01120E0AE2D1A00724CCFAEC830607174C2F24CF71DD38D06D9B708E915CEFA3B25FBB985F9CBAD73DFA81D969BECDCDB41CFA59214089B80A086A45528A4A9D719A7DCAFCC5A795CE218B730D9F42D82BFB35E032B3F4845593239F448FED2CDEEA882B985F16DA813B7EB92BB95131ADF4FABB31AE18C5BBF6F88FCDCD9083361DFAFD56809C25E3D2642A5C8BC5B0CCD09FFCBEBA9B3914394D94D7BADD9307A75C217FB4982B4782FED665C16FF46384ED44EB21BA23FED58230E9DD48319E0A3071838DAFF2AA2C539C97668D5C6527C0765D6D394BBD968CB840A1F6C0E7C704732068CE517260691FEFEE39F3FFDCC453EFAA2009EC6E186A423C173363BC4B258370BC7AC86B9D3643733599D9F6C616DACCCA42D8138AD8BB555DD2B5CADBE7D111CC18F395AC0C7875293A59D7B1510B37CE423911FB683BC1BB9BAD689C81438D26965029D0108AC346A54E222D21');
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
INSERT INTO "release" VALUES('8668d7f78d9f59b84b6473f4d936d293',1,1,'[0]','[[2.4248046875,4,1]]',12,1790000000.0,'d01e90312dddc56835f0d1f90143d32154f24b000b5ee0853fce47e8e8341a11');
INSERT INTO "release" VALUES('8668d7f78d9f59b84b6473f4d936d293',2,1,'[2]','[[3.8955078125,4,1]]',12,1790000000.0,'9bbbf7e1cf56c4005bbb9f67dd7fe2f3fd83c875e6587fd32953781fa3a1eca1');
INSERT INTO "release" VALUES('8668d7f78d9f59b84b6473f4d936d293',3,1,'[1]','[[3.3681640625,4,1]]',12,1790000000.0,'e3801fb53b116ae485c8b6ee67609d0b2d11e3f1e15c48bc17058c21550ec598');
CREATE TABLE request (
    campaign VARCHAR(32) NOT NULL,
    principal VARCHAR(64) NOT NULL,
    "key" VARCHAR(200) NOT NULL,
    response TEXT NOT NULL,
    PRIMARY KEY (campaign, principal, "key")
);
INSERT INTO "request" VALUES('7a4c70aa64d21238fff98167e75519b7','','visit','["3c7acb5bc39922436c7ae4b1bd0e913c56afa8aec7bfc649636267efa8ec5162",[["1966c29458a3a776330b43f8563128a3",1,1,null,"people",null,true,0.3333333333333333]]]');
CREATE TABLE scope (
    name VARCHAR(200) NOT NULL,
    epsilon TEXT NOT NULL,
    spent TEXT NOT NULL, unit VARCHAR(8), window FLOAT, trust VARCHAR(8), noise VARCHAR(16),
    PRIMARY KEY (name)
);
INSERT INTO "scope" VALUES('all','2','1','user',NULL,'central','simulated');
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
