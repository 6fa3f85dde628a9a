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
INSERT INTO public.access_key VALUES ('e8f564317836e944868231c09ca4354c87931da327187bdd02216dac6e4dd22f', 'me', 'admin', NULL, 1795526275.26273, NULL);
INSERT INTO public.alembic_version VALUES ('0003');
INSERT INTO public.campaign VALUES ('6db57ce989fd39db150c26102a2e3375', 'c', '6db57ce989fd39db150c26102a2e3375', '{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 1), grid=1024, first=4, alpha=1.5, preset=''default'')"}}', 1790000000);
INSERT INTO public.campaign VALUES ('558d8f988258c593b4c5b6bd8d645bb3', 'people', '558d8f988258c593b4c5b6bd8d645bb3', '{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":-1000000000000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":{"cap":2,"key":"8154a630d5827cf17b4cf951685eb368","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"attribution_window":"1:00:00","default":"0","max_contributions":"2","policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 2), grid=1024, first=4, alpha=1.5, preset=''default'')","privacy_unit":"user"}}', 1790000000);
INSERT INTO public.contribution VALUES ('558d8f988258c593b4c5b6bd8d645bb3', '22dc2be2ff984634ede16e410fc57368', 0, 1);
INSERT INTO public.contribution VALUES ('558d8f988258c593b4c5b6bd8d645bb3', '47f46034c6c1a71c8198708a0dda8889', 0, 1);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 1, 1, 0, '1', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 6768928717260342036);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 2, 1, 0, '2', NULL, NULL, true, 0.36363636363636365, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 6768928717260342036);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 3, 1, 0, '2', NULL, NULL, true, 0.3, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 6768928717260342036);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 4, 1, 0, '0', NULL, NULL, true, 0.4444444444444444, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 6768928717260342036);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 5, 1, 0, '1', NULL, NULL, true, 0.375, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 6768928717260342036);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 6, 1, 0, '0', NULL, NULL, true, 0.42857142857142855, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 6768928717260342036);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 7, 1, 0, '0', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 6768928717260342036);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 8, 1, 0, '2', NULL, NULL, true, 0.4, NULL, 1790000000, NULL, NULL, NULL, 'told', 3, 6768928717260342036);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 9, 1, 0, '1', NULL, NULL, true, 0.5, NULL, 1790000000, NULL, NULL, NULL, 'told', 5, -8982134893594996064);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 10, 1, 0, '0', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 5, -8982134893594996064);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 11, 1, 0, '2', NULL, NULL, true, 0.5, NULL, 1790000000, NULL, NULL, NULL, 'told', 5, -8982134893594996064);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 12, 1, 0, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'told', 5, -8982134893594996064);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 13, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, 2294038975829778513);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 14, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, 2294038975829778513);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 15, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, 2294038975829778513);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 16, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, 2294038975829778513);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 17, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, 2294038975829778513);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 18, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, 2294038975829778513);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 19, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, 2294038975829778513);
INSERT INTO public.decision VALUES ('6db57ce989fd39db150c26102a2e3375', 20, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6, 2294038975829778513);
INSERT INTO public.decision VALUES ('558d8f988258c593b4c5b6bd8d645bb3', 1, 1, 0, '1', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, 1790003600, '22dc2be2ff984634ede16e410fc57368', 0, 'waiting', 2, -3234278449353879240);
INSERT INTO public.decision VALUES ('558d8f988258c593b4c5b6bd8d645bb3', 2, 1, 0, '2', NULL, NULL, true, 0.36363636363636365, NULL, 1790000000, 1790003600, '47f46034c6c1a71c8198708a0dda8889', 0, 'waiting', 3, -4269222272116605932);
INSERT INTO public.head VALUES ('6db57ce989fd39db150c26102a2e3375', 6, 1, 3, 'ee48cc9f4125629d0be0cf9e8e49eae0889f88a0d83f886d8a33f37e2e29157f', 3, 'ee48cc9f4125629d0be0cf9e8e49eae0889f88a0d83f886d8a33f37e2e29157f', 20, 8, '{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":20,"asked_before_plan":12,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",1,[[1,2.4248046875,4,[[1,1]]]],[1,2.4248046875,4,[[1,1]]]],["1",1,[[1,3.3681640625,4,[[1,1]]]],[1,3.3681640625,4,[[1,1]]]],["2",1,[[1,3.8955078125,4,[[1,1]]]],[1,3.8955078125,4,[[1,1]]]]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,1,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[1,20,22,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[2.4248046875,3.3681640625,3.8955078125],[4,4,4],[1,1,1],[4,4,4],[0,0,0],12],"step":3,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[4,4,4],"expected":[3.4616522366522373,4.966774891774891,3.571572871572872],"highest":0.00029751557229451694,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.007373083455263345},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[[0,4],[1,4],[2,4]],"dropped":[],"releases":3},"records":12,"turns":3}},"turns":["0d64b6cac4116dca","feb5c7acf721bf53","540724e594ece546","e2449e1a0bc09d53","c023841705407316","88c9def5384e4507"],"unseen":[]}', NULL);
INSERT INTO public.head VALUES ('558d8f988258c593b4c5b6bd8d645bb3', 4, 1, 0, 'ebab93c56d654f14b7d2079a2d1bc649c5c608cd1a3a81b51f55c3301ba70e72', 0, 'ebab93c56d654f14b7d2079a2d1bc649c5c608cd1a3a81b51f55c3301ba70e72', 2, 2, '{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":2,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":1790000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,2,0.36363636363636365,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,0,0],"pending":[],"people":{"cap":2,"key":"8154a630d5827cf17b4cf951685eb368","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,1,1],"expected":[0.696969696969697,0.606060606060606,0.696969696969697],"highest":0.0,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.0008178472898956547},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},"turns":["081c5c60bce07a5b","8e2cb809116e060d","3e665274820c51a2","6eea01978b2176b3"],"unseen":[]}', NULL);
INSERT INTO public.held VALUES ('558d8f988258c593b4c5b6bd8d645bb3', 2, '\x73c0fe0ee4accc233b94dcbb59487e22d2a2b4f097b9773a47bec398ece16c6bfd', 4);
INSERT INTO public.ledger VALUES (1, '6db57ce989fd39db150c26102a2e3375', 1, 0, 0, 4, '1', 1, 'read', 5);
INSERT INTO public.ledger VALUES (2, '6db57ce989fd39db150c26102a2e3375', 1, 2, 0, 4, '1', 2, 'read', 5);
INSERT INTO public.ledger VALUES (3, '6db57ce989fd39db150c26102a2e3375', 1, 1, 0, 4, '1', 3, 'read', 5);
INSERT INTO public.private_state VALUES ('6db57ce989fd39db150c26102a2e3375', '\x73bb1fffa50e10f6783287a6b40aa1a6196c9b05cc38658813fc245f81c550ff52374b817cbaaade21b5c58b34a3997689763bacca8dcb8505bec104a615ef69ad03928020888160cb1bb8da5d1b0f82a88cfa83e3c1303c55ccd649e246946c4a7652267646caaa210138d8738a50d21dff586e16c77455d72fd72494ad6c6cb8d4442105ac57057dbfadbe2316488cb2564047ba8df184f94f7b5cfee524162fdfb4fb3c5cdcfeaf6e7c15b0b4f9e4bee577830b95c50ce761195f04d51d940265724e290ffc38b3e3ef2da656f987096fc45cfd4118b84a707ba09fde889f0769e55f3d31552ada910e4399e1300efee1ee219984fd6dda3fbef917d8706abb79f5457c62d6fd52cfd256617d1b39d6ff93debb54c9158668df4b8e4ab66ee8b6a5f2cf650e89eddd1efe4676045385352d093c864c208deb6d4485ea6c98ea4e9b96d1012ecf1756b67e4bae55d8f081e529e76eab39fcf83522');
INSERT INTO public.private_state VALUES ('558d8f988258c593b4c5b6bd8d645bb3', '\x7396b789a02098fc4b266174e87ca88eea0bf4737c1a53f24659235fee55b9befe55939d50e0fa643632f9019f8b36187da73248380b959ee5a9f88a71787834641cc3e309184403d698992607f0c1717a65977112a6667b8357b27181700f9cf954e66a5c385d90982cd77648e7f4398a6682aa013e8fc011e9d5076dd26f985a5c8b55ce5db2b917d81faff9cd39aca12ed267c63249a47ebaffa8a5dc1c4cf4d1840617ad57b0cdbc6a1637c0f5174a73c8997d6e5e35b74cfa967dd103abf9e6e680c66ca16d1dcd6179748ac9fa298d05b7e77ce775e5f52f056fcfe49bfa1a1760c8bb359928801b94591c6d9c50a50a89bf8eeb793a0f9a82e9d15a8fcff298b952439b395479a24cece55d50565c398fd3309c00b249f00a84e9cb4effe64db6e1b31f77527ca93db725a2dc73a9cf7c57c54b636473e604b92d954b79be2101d9575bf38df0a8d1129c5a136c866c');
INSERT INTO public.release VALUES ('6db57ce989fd39db150c26102a2e3375', 1, 1, '[0]', '[[2.4248046875,4,1]]', 12, 1790000000, '8a1a735837a5cf8b11de3e2344ffc7414225eaeea8af0a32f499395e74102e26');
INSERT INTO public.release VALUES ('6db57ce989fd39db150c26102a2e3375', 2, 1, '[2]', '[[3.8955078125,4,1]]', 12, 1790000000, '8fadf8527f4c7ee2d326ebad36b1dbf78e027f78dfceeedca857500753d0041c');
INSERT INTO public.release VALUES ('6db57ce989fd39db150c26102a2e3375', 3, 1, '[1]', '[[3.3681640625,4,1]]', 12, 1790000000, 'ee48cc9f4125629d0be0cf9e8e49eae0889f88a0d83f886d8a33f37e2e29157f');
INSERT INTO public.request VALUES ('558d8f988258c593b4c5b6bd8d645bb3', '', 'visit', '["a9c4e86995b53a1fcc1730560ee9fb3afcfe0df4a61264b1bbef0e67b25d6112",[["f4d8b69ad87eee8f8d52cdb6ae0f1ebb",1,1,null,"people",null,true,0.3333333333333333]]]');
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
CREATE TRIGGER ledger_no_truncate BEFORE TRUNCATE ON public.ledger FOR EACH STATEMENT EXECUTE FUNCTION public.append_only();
CREATE TRIGGER release_append_only BEFORE DELETE OR UPDATE ON public.release FOR EACH ROW EXECUTE FUNCTION public.append_only();
CREATE TRIGGER release_no_truncate BEFORE TRUNCATE ON public.release FOR EACH STATEMENT EXECUTE FUNCTION public.append_only();
