SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE EXTENSION IF NOT EXISTS btree_gist WITH SCHEMA public;
CREATE FUNCTION public.append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN RAISE EXCEPTION '% is append only', TG_TABLE_NAME; END $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.access_key (
    hash character varying(64) NOT NULL,
    name character varying(200) NOT NULL,
    roles character varying(100) NOT NULL,
    campaign character varying(200),
    created double precision NOT NULL,
    revoked double precision
);
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.campaign (
    uid character varying(32) NOT NULL,
    name character varying(200) NOT NULL,
    "group" character varying(32) NOT NULL,
    options text NOT NULL,
    created double precision NOT NULL
);
CREATE TABLE public.contribution (
    "group" character varying(32) NOT NULL,
    pseudonym character varying(32) NOT NULL,
    "window" bigint NOT NULL,
    used integer NOT NULL
);
CREATE TABLE public.decision (
    campaign character varying(32) NOT NULL,
    seq bigint NOT NULL,
    generation integer NOT NULL,
    step bigint NOT NULL,
    action text NOT NULL,
    observe text,
    label text,
    learn boolean NOT NULL,
    propensity double precision,
    eligible text,
    asked_at double precision NOT NULL,
    due_at double precision,
    pseudonym character varying(32),
    "window" bigint,
    status character varying(8) NOT NULL,
    moved bigint NOT NULL,
    nonce bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.event (
    id bigint NOT NULL,
    campaign character varying(32) NOT NULL,
    at double precision NOT NULL,
    what character varying(40) NOT NULL,
    about text,
    asked bigint NOT NULL,
    by text
);
CREATE SEQUENCE public.event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.event_id_seq OWNED BY public.event.id;
CREATE TABLE public.head (
    campaign character varying(32) NOT NULL,
    version bigint NOT NULL,
    generation integer NOT NULL,
    step bigint NOT NULL,
    chain character varying(64) NOT NULL,
    before bigint NOT NULL,
    chain_before character varying(64) NOT NULL,
    asked bigint NOT NULL,
    waiting bigint NOT NULL,
    public text NOT NULL,
    closed text
);
CREATE TABLE public.held (
    campaign character varying(32) NOT NULL,
    seq bigint NOT NULL,
    body bytea NOT NULL,
    moved bigint NOT NULL
);
CREATE TABLE public.ledger (
    id bigint NOT NULL,
    campaign character varying(32) NOT NULL,
    generation integer NOT NULL,
    coordinate integer NOT NULL,
    start bigint NOT NULL,
    stop bigint NOT NULL,
    cost text,
    step bigint NOT NULL,
    kind character varying(4) NOT NULL,
    moved bigint NOT NULL
);
CREATE SEQUENCE public.ledger_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.ledger_id_seq OWNED BY public.ledger.id;
CREATE TABLE public.newest (
    campaign character varying(32) NOT NULL,
    pseudonym character varying(32) NOT NULL,
    seq bigint NOT NULL,
    arm integer NOT NULL
);
CREATE TABLE public.private_state (
    campaign character varying(32) NOT NULL,
    body bytea NOT NULL
);
CREATE TABLE public.release (
    campaign character varying(32) NOT NULL,
    step bigint NOT NULL,
    generation integer NOT NULL,
    coordinates text NOT NULL,
    answers text NOT NULL,
    asked bigint NOT NULL,
    made_at double precision NOT NULL,
    chain character varying(64) NOT NULL
);
CREATE TABLE public.request (
    campaign character varying(32) NOT NULL,
    principal character varying(64) NOT NULL,
    key character varying(200) NOT NULL,
    response text NOT NULL
);
CREATE TABLE public.scope (
    name character varying(200) NOT NULL,
    epsilon text NOT NULL,
    spent text NOT NULL
);
ALTER TABLE ONLY public.event ALTER COLUMN id SET DEFAULT nextval('public.event_id_seq'::regclass);
ALTER TABLE ONLY public.ledger ALTER COLUMN id SET DEFAULT nextval('public.ledger_id_seq'::regclass);
INSERT INTO public.access_key VALUES ('b6680a3b615e086a3db1c74072a8ac5ea14998b3bb0da6b2b1e96affa75f2f18', 'me', 'admin', NULL, 1795701187.997631, NULL);
INSERT INTO public.alembic_version VALUES ('0004');
INSERT INTO public.campaign VALUES ('b79609c125bd7dd6aa92493d07b198ce', 'c', 'b79609c125bd7dd6aa92493d07b198ce', '{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 1), grid=1024, first=4, alpha=1.5, preset=''default'')"}}', 1790000000);
INSERT INTO public.campaign VALUES ('6ecd2f26019ccdb6dc29a2edb1dd6c30', 'people', '6ecd2f26019ccdb6dc29a2edb1dd6c30', '{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":-1000000000000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":{"cap":2,"key":"9cd8c2fc3e51375f2328d3964929ff31","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"attribution_window":"1:00:00","default":"0","max_contributions":"2","policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 2), grid=1024, first=4, alpha=1.5, preset=''default'')","privacy_unit":"user"}}', 1790000000);
INSERT INTO public.contribution VALUES ('6ecd2f26019ccdb6dc29a2edb1dd6c30', '508fc7aa2123266b7cc9c13420344920', 0, 1);
INSERT INTO public.contribution VALUES ('6ecd2f26019ccdb6dc29a2edb1dd6c30', 'ed8a372a712b856e18d37c22812030f4', 0, 1);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 1, 1, 0, '1', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 3846923166052802273);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 2, 1, 0, '2', NULL, NULL, true, 0.36363636363636365, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 3846923166052802273);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 3, 1, 0, '2', NULL, NULL, true, 0.3, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 3846923166052802273);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 4, 1, 0, '0', NULL, NULL, true, 0.4444444444444444, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 3846923166052802273);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 5, 1, 0, '1', NULL, NULL, true, 0.375, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 3846923166052802273);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 6, 1, 0, '0', NULL, NULL, true, 0.42857142857142855, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 3846923166052802273);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 7, 1, 0, '0', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 3846923166052802273);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 8, 1, 0, '2', NULL, NULL, true, 0.4, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 3846923166052802273);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 9, 1, 0, '1', NULL, NULL, true, 0.5, NULL, 1790000000, NULL, NULL, NULL, 'told', 5, 2509750791152175715);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 10, 1, 0, '0', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 5, 2509750791152175715);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 11, 1, 0, '2', NULL, NULL, true, 0.5, NULL, 1790000000, NULL, NULL, NULL, 'told', 5, 2509750791152175715);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 12, 1, 0, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'told', 5, 2509750791152175715);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 13, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -5788480794387085598);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 14, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -5788480794387085598);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 15, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -5788480794387085598);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 16, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -5788480794387085598);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 17, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -5788480794387085598);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 18, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -5788480794387085598);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 19, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -5788480794387085598);
INSERT INTO public.decision VALUES ('b79609c125bd7dd6aa92493d07b198ce', 20, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -5788480794387085598);
INSERT INTO public.decision VALUES ('6ecd2f26019ccdb6dc29a2edb1dd6c30', 1, 1, 0, '1', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, 1790003600, '508fc7aa2123266b7cc9c13420344920', 0, 'waiting', 2, -781505451132957216);
INSERT INTO public.decision VALUES ('6ecd2f26019ccdb6dc29a2edb1dd6c30', 2, 1, 0, '2', NULL, NULL, true, 0.36363636363636365, NULL, 1790000000, 1790003600, 'ed8a372a712b856e18d37c22812030f4', 0, 'waiting', 3, 4651057948587861436);
INSERT INTO public.head VALUES ('b79609c125bd7dd6aa92493d07b198ce', 6, 1, 3, '1a3d038e6d07768528ddf1401e7e15dd13edf50ff2ff34640516fdee9ad30cb2', 3, '1a3d038e6d07768528ddf1401e7e15dd13edf50ff2ff34640516fdee9ad30cb2', 20, 8, '{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":20,"asked_before_plan":12,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",1,[[1,2.4248046875,4,[[1,1]]]],[1,2.4248046875,4,[[1,1]]]],["1",1,[[1,3.3681640625,4,[[1,1]]]],[1,3.3681640625,4,[[1,1]]]],["2",1,[[1,3.8955078125,4,[[1,1]]]],[1,3.8955078125,4,[[1,1]]]]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,1,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[1,20,22,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[2.4248046875,3.3681640625,3.8955078125],[4,4,4],[1,1,1],[4,4,4],[0,0,0],12],"step":3,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[4,4,4],"expected":[3.4616522366522373,4.966774891774891,3.571572871572872],"highest":0.00029751557229451694,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.007373083455263345},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[[0,4],[1,4],[2,4]],"dropped":[],"releases":3},"records":12,"turns":3}},"turns":["81883e0d5c080acf","0c9adbb1e4612c74","05c4c852512f35aa","7fca024196fa292f","3b23960da52da9b4","8f2b9e339e384c33"],"unseen":[]}', NULL);
INSERT INTO public.head VALUES ('6ecd2f26019ccdb6dc29a2edb1dd6c30', 3, 1, 0, '2556eccd4702d3b8e9d7fb17af66facdd2eb2b3488aba56dc17dfbc8e6f090df', 0, '2556eccd4702d3b8e9d7fb17af66facdd2eb2b3488aba56dc17dfbc8e6f090df', 2, 2, '{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":2,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":1790000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,2,0.36363636363636365,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,0,0],"pending":[],"people":{"cap":2,"key":"9cd8c2fc3e51375f2328d3964929ff31","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,1,1],"expected":[0.696969696969697,0.606060606060606,0.696969696969697],"highest":0.0,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.0008178472898956547},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},"turns":["1cdcf8635641e6e3","0a68c730162899cd","7b6154133b2ebb49"],"unseen":[]}', NULL);
INSERT INTO public.held VALUES ('6ecd2f26019ccdb6dc29a2edb1dd6c30', 2, '\x73da8670dfde220958635e9ba26721054e7de92e847b826e9c68e6c29899c426f0', 2);
INSERT INTO public.ledger VALUES (1, 'b79609c125bd7dd6aa92493d07b198ce', 1, 0, 0, 4, '1', 1, 'read', 5);
INSERT INTO public.ledger VALUES (2, 'b79609c125bd7dd6aa92493d07b198ce', 1, 2, 0, 4, '1', 2, 'read', 5);
INSERT INTO public.ledger VALUES (3, 'b79609c125bd7dd6aa92493d07b198ce', 1, 1, 0, 4, '1', 3, 'read', 5);
INSERT INTO public.private_state VALUES ('b79609c125bd7dd6aa92493d07b198ce', '\x732c955a54772635b50a2291f4f5b9286be078eb0a0a590d554f752280a0318483be75a3cfaa44cc1e7fd150441a729384861be74f49692afc9738c2610fe7416b524e0840340ee7959256b489fef25e8850073406b2de63f4ebddff42236475a69659d03b3749fbf5ac9ef62c8cf282ea4b085084577b56cf0a29275019f6e4348583d175de26f3de592a6cdaabedf50355edc8fdaf8e4dfb8328077f9201ec0f19f8a566501100c6789ed476b3f80aac837ea1d431535df671fac4eb104f576581ef7ade1313a91638f9297b48ce9210d4e5e5c52e27868d7ea328d06c5fb7b91b9b96e2b5f8e57d8e3f7413b9b081e2c3fbad2042bff2adbf10f58b4d65e60a0f66696be4038f455ab6554da95dd04cd7d50d848624b11b4a2693ec967c79aae519b90b38cdf58dd348ae9fdf8c71c003dfc7d44ca733c1d948ae14c91bf772629007c98ef54c46ff4d42620ccdbbcc22f187e1ec06fe8436c164d7179cc6b5b89f615732e5a400c25273b38ca65637');
INSERT INTO public.private_state VALUES ('6ecd2f26019ccdb6dc29a2edb1dd6c30', '\x7392833ba8f4cde1462c0f3daca1a0e3d5847e4658b6c9718d4f973cac8cbe987ea9d31e793189ade5414e228d570d0c9ee74f88ecae1dec57adce5433e7edde98e370c76128a1596cf8e64216fefd9d29cb74ce47da7b679c20a12fce37e87edf9188074943722c03f884bee524893c1b33108fb17e300f2ce778d6afdea52aeb571a5c2fb983689a5e641718a8f6451448b477ddfe28fb7c14041623d813b31bf291a0744dd92cec6458a666e4c9fd50411e645e54772e0706ff811d33bf1ae205ac28eec9bf8c61990fadb3a164560f4a0bdf26c40e70085cb0d97f1f92c50e79ffa3415909011167eb8fb73c61b02e1100e5ccfa29ed07cd085f7640d9dbc4f9f460cdd2294dad2d689c41f6d27e4ba39f767e5271fa1701feeb009812bf4b02f2847f087d81bcd04bdfa6c830767003b588b2d111c8800eee2ebf6ccd9fbc109b4d5cc4f81cc3f18bb253f891a41fd87d142b7aa1db5f1d61f4dfaa8eb9aa8c1ba428dc5031');
INSERT INTO public.release VALUES ('b79609c125bd7dd6aa92493d07b198ce', 1, 1, '[0]', '[[2.4248046875,4,1]]', 12, 1790000000, '037e3f92ea7651f5e1c536f81ccb1974e73c8d5137b5e434a2bbc0999b3163f0');
INSERT INTO public.release VALUES ('b79609c125bd7dd6aa92493d07b198ce', 2, 1, '[2]', '[[3.8955078125,4,1]]', 12, 1790000000, '9330d0764ee856b57565888ecaa81ece40ed907793f8feb1ac9aa3f02e0d126c');
INSERT INTO public.release VALUES ('b79609c125bd7dd6aa92493d07b198ce', 3, 1, '[1]', '[[3.3681640625,4,1]]', 12, 1790000000, '1a3d038e6d07768528ddf1401e7e15dd13edf50ff2ff34640516fdee9ad30cb2');
INSERT INTO public.request VALUES ('6ecd2f26019ccdb6dc29a2edb1dd6c30', '', 'visit', '["0b62d3d393698f1dfe0848ca1a23b44542110fe51fc8df010e0b9eafe9cd7054",[["4fbba0932d8f9d3f366d7be463d5e8b4",1,1,null,"people",null,true,0.3333333333333333]]]');
INSERT INTO public.scope VALUES ('all', '2', '1');
SELECT pg_catalog.setval('public.event_id_seq', 1, false);
SELECT pg_catalog.setval('public.ledger_id_seq', 3, true);
ALTER TABLE ONLY public.access_key
    ADD CONSTRAINT access_key_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.campaign
    ADD CONSTRAINT campaign_name_key UNIQUE (name);
ALTER TABLE ONLY public.campaign
    ADD CONSTRAINT campaign_pkey PRIMARY KEY (uid);
ALTER TABLE ONLY public.contribution
    ADD CONSTRAINT contribution_pkey PRIMARY KEY ("group", pseudonym);
ALTER TABLE ONLY public.decision
    ADD CONSTRAINT decision_pkey PRIMARY KEY (campaign, seq);
ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.head
    ADD CONSTRAINT head_pkey PRIMARY KEY (campaign);
ALTER TABLE ONLY public.held
    ADD CONSTRAINT held_pkey PRIMARY KEY (campaign, seq);
ALTER TABLE ONLY public.ledger
    ADD CONSTRAINT ledger_once EXCLUDE USING gist (campaign WITH =, generation WITH =, coordinate WITH =, int8range(start, stop) WITH &&) WHERE (((kind)::text = 'read'::text));
ALTER TABLE ONLY public.ledger
    ADD CONSTRAINT ledger_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.newest
    ADD CONSTRAINT newest_pkey PRIMARY KEY (campaign, pseudonym);
ALTER TABLE ONLY public.private_state
    ADD CONSTRAINT private_state_pkey PRIMARY KEY (campaign);
ALTER TABLE ONLY public.release
    ADD CONSTRAINT release_pkey PRIMARY KEY (campaign, step);
ALTER TABLE ONLY public.request
    ADD CONSTRAINT request_pkey PRIMARY KEY (campaign, principal, key);
ALTER TABLE ONLY public.scope
    ADD CONSTRAINT scope_pkey PRIMARY KEY (name);
CREATE INDEX decision_moved ON public.decision USING btree (campaign, moved);
CREATE INDEX decision_pseudonym ON public.decision USING btree (pseudonym);
CREATE INDEX decision_waiting ON public.decision USING btree (campaign, seq) WHERE ((status)::text = 'waiting'::text);
CREATE INDEX event_campaign ON public.event USING btree (campaign, id);
CREATE INDEX ledger_moved ON public.ledger USING btree (campaign, moved);
CREATE INDEX ledger_place ON public.ledger USING btree (campaign, generation, coordinate, start);
CREATE TRIGGER ledger_append_only BEFORE DELETE OR UPDATE ON public.ledger FOR EACH ROW EXECUTE FUNCTION public.append_only();
CREATE TRIGGER ledger_no_truncate BEFORE TRUNCATE ON public.ledger FOR EACH STATEMENT EXECUTE FUNCTION public.append_only();
CREATE TRIGGER release_append_only BEFORE DELETE OR UPDATE ON public.release FOR EACH ROW EXECUTE FUNCTION public.append_only();
CREATE TRIGGER release_no_truncate BEFORE TRUNCATE ON public.release FOR EACH STATEMENT EXECUTE FUNCTION public.append_only();
