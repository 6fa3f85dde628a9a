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
    spent text NOT NULL,
    unit character varying(8),
    "window" double precision,
    trust character varying(8),
    noise character varying(16)
);
ALTER TABLE ONLY public.event ALTER COLUMN id SET DEFAULT nextval('public.event_id_seq'::regclass);
ALTER TABLE ONLY public.ledger ALTER COLUMN id SET DEFAULT nextval('public.ledger_id_seq'::regclass);
INSERT INTO public.access_key VALUES ('38bf3114b9b9395d345c5d86245dc56346398c2dda8f977eb0594a448428d5da', 'me', 'admin', NULL, 1795793976.721433, NULL);
INSERT INTO public.alembic_version VALUES ('0005_scope_kind');
INSERT INTO public.campaign VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 'c', 'ad76041fd9cc26580aec3e2eae8267a9', '{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 1), grid=1024, first=4, alpha=1.5, preset=''default'')"}}', 1790000000);
INSERT INTO public.campaign VALUES ('638a3e94bcf711441bc283d8536fb0ef', 'people', '638a3e94bcf711441bc283d8536fb0ef', '{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":-1000000000000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":{"cap":2,"key":"934e36b9ed700bcade38d4be621f26b8","latest":-1000000000000000.0,"owners":[],"typed":false,"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"attribution_window":"1:00:00","default":"0","max_contributions":"2","policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 2), grid=1024, first=4, alpha=1.5, preset=''default'')","privacy_unit":"user"}}', 1790000000);
INSERT INTO public.contribution VALUES ('638a3e94bcf711441bc283d8536fb0ef', 'c060d72aea230a437e43f0096a13b79c', 0, 1);
INSERT INTO public.contribution VALUES ('638a3e94bcf711441bc283d8536fb0ef', 'a0e68d29813d20957fd1d0613aafe02b', 0, 1);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 1, 1, 0, '1', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 4476593148716560173);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 2, 1, 0, '2', NULL, NULL, true, 0.36363636363636365, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 4476593148716560173);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 3, 1, 0, '2', NULL, NULL, true, 0.3, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 4476593148716560173);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 4, 1, 0, '0', NULL, NULL, true, 0.4444444444444444, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 4476593148716560173);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 5, 1, 0, '1', NULL, NULL, true, 0.375, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 4476593148716560173);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 6, 1, 0, '0', NULL, NULL, true, 0.42857142857142855, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 4476593148716560173);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 7, 1, 0, '0', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 4476593148716560173);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 8, 1, 0, '2', NULL, NULL, true, 0.4, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 4476593148716560173);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 9, 1, 0, '1', NULL, NULL, true, 0.5, NULL, 1790000000, NULL, NULL, NULL, 'told', 5, 7740778971944106280);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 10, 1, 0, '0', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 5, 7740778971944106280);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 11, 1, 0, '2', NULL, NULL, true, 0.5, NULL, 1790000000, NULL, NULL, NULL, 'told', 5, 7740778971944106280);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 12, 1, 0, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'told', 5, 7740778971944106280);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 13, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -681963705700469779);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 14, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -681963705700469779);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 15, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -681963705700469779);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 16, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -681963705700469779);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 17, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -681963705700469779);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 18, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -681963705700469779);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 19, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -681963705700469779);
INSERT INTO public.decision VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 20, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, -681963705700469779);
INSERT INTO public.decision VALUES ('638a3e94bcf711441bc283d8536fb0ef', 1, 1, 0, '1', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, 1790003600, 'c060d72aea230a437e43f0096a13b79c', 0, 'waiting', 2, 5133690441734464636);
INSERT INTO public.decision VALUES ('638a3e94bcf711441bc283d8536fb0ef', 2, 1, 0, '2', NULL, NULL, true, 0.36363636363636365, NULL, 1790000000, 1790003600, 'a0e68d29813d20957fd1d0613aafe02b', 0, 'waiting', 3, -5134389970498569451);
INSERT INTO public.head VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 6, 1, 3, '391e341ef5d4906f016fb6f517743e2131fcf1317b68196cc71ebf1ebc2cd2b1', 3, '391e341ef5d4906f016fb6f517743e2131fcf1317b68196cc71ebf1ebc2cd2b1', 20, 8, '{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":20,"asked_before_plan":12,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",1,[[1,2.4248046875,4,[[1,1]]]],[1,2.4248046875,4,[[1,1]]]],["1",1,[[1,3.3681640625,4,[[1,1]]]],[1,3.3681640625,4,[[1,1]]]],["2",1,[[1,3.8955078125,4,[[1,1]]]],[1,3.8955078125,4,[[1,1]]]]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,1,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[1,20,22,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[2.4248046875,3.3681640625,3.8955078125],[4,4,4],[1,1,1],[4,4,4],[0,0,0],12],"step":3,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[4,4,4],"expected":[3.4616522366522373,4.966774891774891,3.571572871572872],"highest":0.00029751557229451694,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.007373083455263345},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[[0,4],[1,4],[2,4]],"dropped":[],"releases":3},"records":12,"turns":3}},"turns":["356fecc70008948e","cb5ac22dcfeabd04","ffec8a0cf9efd465","40df087f93c26c18","36aa0525340f0bb9","571a2a23a7b73e96"],"unseen":[]}', NULL);
INSERT INTO public.head VALUES ('638a3e94bcf711441bc283d8536fb0ef', 3, 1, 0, 'b506d3dfecf6fdf86449467ea242f504406e0ad43eaf1f911f6508216389c3b9', 0, 'b506d3dfecf6fdf86449467ea242f504406e0ad43eaf1f911f6508216389c3b9', 2, 2, '{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":2,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":1790000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,2,0.36363636363636365,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,0,0],"pending":[],"people":{"cap":2,"key":"934e36b9ed700bcade38d4be621f26b8","latest":-1000000000000000.0,"owners":[],"typed":false,"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":null,"spacing":null,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,1,1],"expected":[0.696969696969697,0.606060606060606,0.696969696969697],"highest":0.0,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.0008178472898956547},"unanswered":null,"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},"turns":["39815103cfa81035","8977586dbde53d14","b5f05fc7a94ff2bf"],"unseen":[]}', NULL);
INSERT INTO public.held VALUES ('638a3e94bcf711441bc283d8536fb0ef', 2, '\x73121192efb8b7cf743128c0c7f845a1419a53f44b583b0739cc605b0e7191ac87', 2);
INSERT INTO public.ledger VALUES (1, 'ad76041fd9cc26580aec3e2eae8267a9', 1, 0, 0, 4, '1', 1, 'read', 5);
INSERT INTO public.ledger VALUES (2, 'ad76041fd9cc26580aec3e2eae8267a9', 1, 2, 0, 4, '1', 2, 'read', 5);
INSERT INTO public.ledger VALUES (3, 'ad76041fd9cc26580aec3e2eae8267a9', 1, 1, 0, 4, '1', 3, 'read', 5);
INSERT INTO public.private_state VALUES ('ad76041fd9cc26580aec3e2eae8267a9', '\x73c9504c1d81871722d79f85bcc63900f73494da013a6e9a90f00711ff73024e7fd2414daabcc47cd499f74a6ffb53c25899d7461360589fbc134387b7ca529df944d507bc6d0be4a0e45e2fd22629e533d8bc0f835232317439ea5533499ace44caf3135c41ffd4f4b29535946fcb87c9a4984775e004638f9de5cb6e17351ce232c0d59f7defba26dab5d3bed24b34243dd7a510ae78288d24793f6adf89838b178116293a0efb43de4eb51ec1fcc2cc324b8079de95009f6f8b4f89891146035005043f0d28f17dc1befaf20261a901d51f7837e805783ea242176b0fc4c06db1dda57700b5a332ba255d3be29e117d4a3e0eb83ed5c143094295c6afc6ab2582bcebdce1b7ceba372a77b622729b3dcdfb5efb232bdde40fe201dc2a4c74300e122f63e53c119052c877030305113ec506d3bac1e10640c4be046de78124fc202c692c1dd8c2306dd7c6a34bfdc025db26dae0eb6c4b07fdfa48290e3f1d1d64d34f792fd662272c1df31a8acbaa64');
INSERT INTO public.private_state VALUES ('638a3e94bcf711441bc283d8536fb0ef', '\x73b5af3ece874c2894220aaa428b0276c63f1c1d4ef925fa69e6e1cbbb5b08b8f9703b45e9d88213c7f835abf9ec8a7882e072187e28feafd63df55be9c1dd3647174fba6681150dfa2d44e4a394ee8a74b8b62ba49399f9a7108baf47514c7525f21a22caeea13d2cafcba8a025c821984cab011dd1d015f29d774c105cf3da2f2643c072f47598d7f261f27b94e846096df7f66196e9d2371bcee18817adf7559621473fc7442252ddf37afe3a4d47291f44c69f0c757a9e7cd38a6ff8c4373a06249aaac713de5f3e1ded240d77f42367afb120e38e649588c7edcf6aa678f87b1b38c158055b81cbfd127bf06b642c978db9fb45604144d55d4f7b2be73b63dde57cb5ef987c2c0d214d1588a06c22c7503b0a7c96c9d7ca3faba1c65316b506debebd52f807ca91ad09d2ef9d0c72dea8e4709d609d231859015eb8aa38dace7e6335ae3fd7483d0774846ec125f709b5b106d6377022f15e27a8ce57ec4190d8e08f4db980');
INSERT INTO public.release VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 1, 1, '[0]', '[[2.4248046875,4,1]]', 12, 1790000000, '2a20f3ed14647ade21a419a8853293016ad364ca204245b58cad41fdcba0f6f8');
INSERT INTO public.release VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 2, 1, '[2]', '[[3.8955078125,4,1]]', 12, 1790000000, 'de076ec9c168fc230a1f9c37d594557ec50653de9302241cbe7e5678167bf7ac');
INSERT INTO public.release VALUES ('ad76041fd9cc26580aec3e2eae8267a9', 3, 1, '[1]', '[[3.3681640625,4,1]]', 12, 1790000000, '391e341ef5d4906f016fb6f517743e2131fcf1317b68196cc71ebf1ebc2cd2b1');
INSERT INTO public.request VALUES ('638a3e94bcf711441bc283d8536fb0ef', '', 'visit', '["e6942f72cfbe42cedd8a4d00f533f9b847b33fb65d8e9e08179dffde6a585b2e",[["04c9446734621a4ddd9d2c6e77531b73",1,1,null,"people",null,true,0.3333333333333333]]]');
INSERT INTO public.scope VALUES ('all', '2', '1', 'user', NULL, 'central', 'simulated');
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
