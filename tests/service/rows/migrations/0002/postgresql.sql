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
    moved bigint NOT NULL
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
INSERT INTO public.access_key VALUES ('fb543ca6671f82b0f7a595c6115cf91041331f9337f2945116e077aebadc48aa', 'me', 'admin', NULL, 1795525512.601278, NULL);
INSERT INTO public.alembic_version VALUES ('0002');
INSERT INTO public.campaign VALUES ('49b4579f2cc6e5e66fa133e32f559675', 'c', '49b4579f2cc6e5e66fa133e32f559675', '{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 1), grid=1024, first=4, alpha=1.5, preset=''default'')"}}', 1790000000);
INSERT INTO public.campaign VALUES ('aad6a42a7332ed2f02e972d6d03e9958', 'people', 'aad6a42a7332ed2f02e972d6d03e9958', '{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":-1000000000000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":{"cap":2,"key":"a2aa69ed9107f87fb3364b06ee8ac696","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"attribution_window":"1:00:00","default":"0","max_contributions":"2","policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 2), grid=1024, first=4, alpha=1.5, preset=''default'')","privacy_unit":"user"}}', 1790000000);
INSERT INTO public.contribution VALUES ('aad6a42a7332ed2f02e972d6d03e9958', 'ecc95a0f6bc8758b4a8dcc5774a2c2fd', 0, 1);
INSERT INTO public.contribution VALUES ('aad6a42a7332ed2f02e972d6d03e9958', 'eb883ceba0fe80b8cd6e061bf32433fe', 0, 1);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 1, 1, 0, '1', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 2, 1, 0, '2', NULL, NULL, true, 0.36363636363636365, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 3, 1, 0, '2', NULL, NULL, true, 0.3, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 4, 1, 0, '0', NULL, NULL, true, 0.4444444444444444, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 5, 1, 0, '1', NULL, NULL, true, 0.375, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 6, 1, 0, '0', NULL, NULL, true, 0.42857142857142855, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 7, 1, 0, '0', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 8, 1, 0, '2', NULL, NULL, true, 0.4, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 9, 1, 0, '1', NULL, NULL, true, 0.5, NULL, 1790000000, NULL, NULL, NULL, 'told', 5);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 10, 1, 0, '0', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 5);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 11, 1, 0, '2', NULL, NULL, true, 0.5, NULL, 1790000000, NULL, NULL, NULL, 'told', 5);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 12, 1, 0, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'told', 5);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 13, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 14, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 15, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 16, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 17, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 18, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 19, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('49b4579f2cc6e5e66fa133e32f559675', 20, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('aad6a42a7332ed2f02e972d6d03e9958', 1, 1, 0, '1', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, 1790003600, 'ecc95a0f6bc8758b4a8dcc5774a2c2fd', 0, 'waiting', 2);
INSERT INTO public.decision VALUES ('aad6a42a7332ed2f02e972d6d03e9958', 2, 1, 0, '2', NULL, NULL, true, 0.36363636363636365, NULL, 1790000000, 1790003600, 'eb883ceba0fe80b8cd6e061bf32433fe', 0, 'waiting', 3);
INSERT INTO public.head VALUES ('49b4579f2cc6e5e66fa133e32f559675', 6, 1, 3, 'bc2d21c50b01d42374e080e4e4cf19fc1f4394ccdcc2d9fb0464367e6a62aee0', 3, 'bc2d21c50b01d42374e080e4e4cf19fc1f4394ccdcc2d9fb0464367e6a62aee0', 20, 8, '{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":20,"asked_before_plan":12,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",1,[[1,2.4248046875,4,[[1,1]]]],[1,2.4248046875,4,[[1,1]]]],["1",1,[[1,3.3681640625,4,[[1,1]]]],[1,3.3681640625,4,[[1,1]]]],["2",1,[[1,3.8955078125,4,[[1,1]]]],[1,3.8955078125,4,[[1,1]]]]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,1,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[1,20,22,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[2.4248046875,3.3681640625,3.8955078125],[4,4,4],[1,1,1],[4,4,4],[0,0,0],12],"step":3,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[4,4,4],"expected":[3.4616522366522373,4.966774891774891,3.571572871572872],"highest":0.00029751557229451694,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.007373083455263345},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[[0,4],[1,4],[2,4]],"dropped":[],"releases":3},"records":12,"turns":3}},"turns":["912e5fb451f4cce7","3940c27afa5d1844","dc22d5cd6581e240","64acd3e035bd3eef","a232f0a91ff8c657","44b92226d5eb86ce"],"unseen":[]}', NULL);
INSERT INTO public.head VALUES ('aad6a42a7332ed2f02e972d6d03e9958', 4, 1, 0, '94052a608519218ee20a8f2adb42c0eaa1a23b89f144880cc146e986b57dd01e', 0, '94052a608519218ee20a8f2adb42c0eaa1a23b89f144880cc146e986b57dd01e', 2, 2, '{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":2,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":1790000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,2,0.36363636363636365,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,0,0],"pending":[],"people":{"cap":2,"key":"a2aa69ed9107f87fb3364b06ee8ac696","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,1,1],"expected":[0.696969696969697,0.606060606060606,0.696969696969697],"highest":0.0,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.0008178472898956547},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},"turns":["6f8579bc99ac3750","2ac31b0c317e9418","22c3feaafa12247d","364787af675a48c7"],"unseen":[]}', NULL);
INSERT INTO public.held VALUES ('aad6a42a7332ed2f02e972d6d03e9958', 2, '\x73c3fc6872b5268c43a39c7ae87cdcd33e233f2904abbd30a748288ca6134f1c0c', 4);
INSERT INTO public.ledger VALUES (1, '49b4579f2cc6e5e66fa133e32f559675', 1, 0, 0, 4, '1', 1, 'read', 5);
INSERT INTO public.ledger VALUES (2, '49b4579f2cc6e5e66fa133e32f559675', 1, 2, 0, 4, '1', 2, 'read', 5);
INSERT INTO public.ledger VALUES (3, '49b4579f2cc6e5e66fa133e32f559675', 1, 1, 0, 4, '1', 3, 'read', 5);
INSERT INTO public.private_state VALUES ('49b4579f2cc6e5e66fa133e32f559675', '\x73ff3d8ea54262a12cae4a7ce33fa4e9f40801d39c0ecfc5c15739a41b97a1ac183619e8b9ed0b9987277f7f4dcc3db71afc19384c1dc725f35e016dd4fe0d45c621f5a4a531f8b3e82eb1fb95aaf2c05fd82ea3d4162a26004b9d11563d9af75875acdc04f9f06c1ae72ddf1272cc556f3a43349ddb5763136bdb759a830e23b236b9cf28159f5c0d8f123d51ce2eaabcce5112e70548377dcbc04b197169dee14456dc29ff777014a1a23d7812fd40658cfbe61eace4a7f8baca69a57b67a5f442164e783eb28ab875a22ab24340232ccc72e5f753d2fade4c8ad1debbfd2fef81f320fd66a11ff13d8b4a9580bc82dbd67feccdee19e1045d4cc1b304ff6a1404b60ccfa9b102e28ca3bbf324cce098c06b42ca1cf776c1fd3363bb786a94fb04ed57373678f6c4773d7ee1bfb8342684785db2b4fce06b007b8d094ec808c06f370928ab887349291551e7919a16a64abfbc52c7197dcfbdd11b');
INSERT INTO public.private_state VALUES ('aad6a42a7332ed2f02e972d6d03e9958', '\x731643f40cb2f1125a529bb6cea39c44606e474490a6f12817bb533b3ee2b7b2a2bcedd15b682683a32ce84d874a20eb4fe359c111a016cb345983393f9b7837f75a2ebe8ed13eb1d9e74f52b9cdae22a95ae56fd7d4c7fb1ed7954cbb94d52c57483b1ffc63c4a7cc789e10d33bdee23cf387c51c7f7a4668aeee8b8650e558850cd2661135caf20029801c659b370df9109f80e61e11124823265689c2fe8caecb7ba612f8c4596002ba6e81c8290055b199560b9509fa0bd60be083131acf2fb746569ef963072d101e288a16310e92f8fd367a072aa6a6cad99832759db093a33aa3582d05d59bf3a23ffc544c10feb745b4e90e8de826cf198f441a6a0ec5aa8fcc8b54590347915f3916db3a1267b2ca32eef8059e9ce6949c0d36c62221cebc90ccd594d25f9f5ef1000be676a6c69a05fc35bf63f4238a611aaf9e7da9bbac89743d399c6f18d559e74bc14dad5ab7');
INSERT INTO public.release VALUES ('49b4579f2cc6e5e66fa133e32f559675', 1, 1, '[0]', '[[2.4248046875,4,1]]', 12, 1790000000, '3cf8caa067ce056716b4e61ad4ecdc42bd27a8b5d9b8e9c19f870a414673c7f4');
INSERT INTO public.release VALUES ('49b4579f2cc6e5e66fa133e32f559675', 2, 1, '[2]', '[[3.8955078125,4,1]]', 12, 1790000000, '2d7d48185e6e3e95616b39da94d5886b1eeef724f395b5a4558cdeb0391d0403');
INSERT INTO public.release VALUES ('49b4579f2cc6e5e66fa133e32f559675', 3, 1, '[1]', '[[3.3681640625,4,1]]', 12, 1790000000, 'bc2d21c50b01d42374e080e4e4cf19fc1f4394ccdcc2d9fb0464367e6a62aee0');
INSERT INTO public.request VALUES ('aad6a42a7332ed2f02e972d6d03e9958', '', 'visit', '["e2e5f592f40d1a846bb71d72cd72c2d39cd24db61d7556c2aa7ebc8551fd61c1",[["362f3d855cd8ce11dbc5ce39482a154b",1,1,null,"people",null,true,0.3333333333333333]]]');
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
CREATE TRIGGER release_append_only BEFORE DELETE OR UPDATE ON public.release FOR EACH ROW EXECUTE FUNCTION public.append_only();
