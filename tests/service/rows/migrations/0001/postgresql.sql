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
INSERT INTO public.access_key VALUES ('ec8bebec1d021a0a22abe97f1156031c8ba9b61a45d23cf999596e590b61c9a7', 'me', 'admin', NULL, 1795525553.279818, NULL);
INSERT INTO public.alembic_version VALUES ('0001');
INSERT INTO public.campaign VALUES ('4922352aa7e1668a19686159876550d8', 'c', '4922352aa7e1668a19686159876550d8', '{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 1), grid=1024, first=4, alpha=1.5, preset=''default'')"}}', 1790000000);
INSERT INTO public.campaign VALUES ('bcc5ab38f87aa4e5547129e9b6538059', 'people', 'bcc5ab38f87aa4e5547129e9b6538059', '{"first":[{"arms":"aaa","asked":0,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":-1000000000000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,0,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,4,0],"pending":[],"people":{"cap":2,"key":"42d8f8c408a308b7e0471f5bab15d476","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,0,0],"expected":[0.0,0.0,0.0],"highest":0.0,"prior":[0.0,0.0,0.0],"score":0.0},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},{"held":[],"memory":[[0,0,0],[0,0,0],[0,0,0]],"noise":{"generator":{"bit_generator":"PCG64","has_uint32":0,"state":{"inc":124273051041474082113128455297778720799,"state":128532061387692633707399183159501401527},"uinteger":0},"kind":"simulated","seed":1},"sums":[0,0,0]}],"shown":{"attribution_window":"1:00:00","default":"0","max_contributions":"2","policy":"DPKLUCB(arms=3, epsilon=Fraction(1, 2), grid=1024, first=4, alpha=1.5, preset=''default'')","privacy_unit":"user"}}', 1790000000);
INSERT INTO public.contribution VALUES ('bcc5ab38f87aa4e5547129e9b6538059', 'ef4d87e91c83458696bd57f1c6880a04', 0, 1);
INSERT INTO public.contribution VALUES ('bcc5ab38f87aa4e5547129e9b6538059', 'a59769d040b098774a1acf1ade0e889c', 0, 1);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 1, 1, 0, '1', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 2, 1, 0, '2', NULL, NULL, true, 0.36363636363636365, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 3, 1, 0, '2', NULL, NULL, true, 0.3, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 4, 1, 0, '0', NULL, NULL, true, 0.4444444444444444, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 5, 1, 0, '1', NULL, NULL, true, 0.375, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 6, 1, 0, '0', NULL, NULL, true, 0.42857142857142855, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 7, 1, 0, '0', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 8, 1, 0, '2', NULL, NULL, true, 0.4, NULL, 1790000000, NULL, NULL, NULL, 'told', 3);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 9, 1, 0, '1', NULL, NULL, true, 0.5, NULL, 1790000000, NULL, NULL, NULL, 'told', 5);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 10, 1, 0, '0', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, NULL, NULL, NULL, 'told', 5);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 11, 1, 0, '2', NULL, NULL, true, 0.5, NULL, 1790000000, NULL, NULL, NULL, 'told', 5);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 12, 1, 0, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'told', 5);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 13, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 14, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 15, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 16, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 17, 1, 3, '0', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 18, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 19, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('4922352aa7e1668a19686159876550d8', 20, 1, 3, '1', NULL, NULL, true, 1, NULL, 1790000000, NULL, NULL, NULL, 'waiting', 6);
INSERT INTO public.decision VALUES ('bcc5ab38f87aa4e5547129e9b6538059', 1, 1, 0, '1', NULL, NULL, true, 0.3333333333333333, NULL, 1790000000, 1790003600, 'ef4d87e91c83458696bd57f1c6880a04', 0, 'waiting', 2);
INSERT INTO public.decision VALUES ('bcc5ab38f87aa4e5547129e9b6538059', 2, 1, 0, '2', NULL, NULL, true, 0.36363636363636365, NULL, 1790000000, 1790003600, 'a59769d040b098774a1acf1ade0e889c', 0, 'waiting', 3);
INSERT INTO public.head VALUES ('4922352aa7e1668a19686159876550d8', 6, 1, 3, 'efc9aad1ce5a15038eab7dc0c1e57eb5c6612a79a2d1e9f4dc526c5487cae472', 3, 'efc9aad1ce5a15038eab7dc0c1e57eb5c6612a79a2d1e9f4dc526c5487cae472', 20, 8, '{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":20,"asked_before_plan":12,"assignment":[true,0.0],"attribution":null,"beliefs":{"arms":[["0",1,[[1,2.4248046875,4,[[1,1]]]],[1,2.4248046875,4,[[1,1]]]],["1",1,[[1,3.3681640625,4,[[1,1]]]],[1,3.3681640625,4,[[1,1]]]],["2",1,[[1,3.8955078125,4,[[1,1]]]],[1,3.8955078125,4,[[1,1]]]]],"first":3,"growth":1.1},"campaign":"c","chosen":[[1,1,1.0,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[1,20,22,0],"pending":[],"people":null,"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[2.4248046875,3.3681640625,3.8955078125],[4,4,4],[1,1,1],[4,4,4],[0,0,0],12],"step":3,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[4,4,4],"expected":[3.4616522366522373,4.966774891774891,3.571572871572872],"highest":0.00029751557229451694,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.007373083455263345},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[[0,4],[1,4],[2,4]],"dropped":[],"releases":3},"records":12,"turns":3}},"turns":["6a2c7760b3808539","230056899ffe718b","56ee673cbad5de7d","ad73a876371dda57","d6a9402d1640baf3","eca4995472797bf9"],"unseen":[]}', NULL);
INSERT INTO public.head VALUES ('bcc5ab38f87aa4e5547129e9b6538059', 4, 1, 0, '283c0b45523ba224494e4cd33de884bc61de137f295e050c37ca5daf13226e67', 0, '283c0b45523ba224494e4cd33de884bc61de137f295e050c37ca5daf13226e67', 2, 2, '{"closed_window":null,"documents":6,"fresh_since":1,"session":{"arms":"aaa","asked":2,"asked_before_plan":0,"assignment":[true,0.0],"attribution":{"due":[],"latest":1790000000.0,"seconds":3600.0},"beliefs":{"arms":[["0",0,[],null],["1",0,[],null],["2",0,[],null]],"first":3,"growth":1.1},"campaign":"people","chosen":[[1,2,0.36363636363636365,true]],"default":0.0,"events":[],"generation":1,"guardrail":null,"harm":null,"lost":0,"max_pending":100000,"noise":{"kind":"simulated"},"offer":[null,1,0,0],"pending":[],"people":{"cap":2,"key":"42d8f8c408a308b7e0471f5bab15d476","latest":-1000000000000000.0,"owners":[],"used":[],"window":null},"plan_finished":null,"plans":[],"policy":{"alpha":1.5,"arms":3,"class":"DPKLUCB","epsilon":"1/2","first":4,"grid":1024,"preset":"default"},"rewards":null,"rng":null,"seed":2,"state":[[0.0,0.0,0.0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],0],"step":0,"told_in_plan":[],"traffic":{"concentration":1000.0,"counts":[0,1,1],"expected":[0.696969696969697,0.606060606060606,0.696969696969697],"highest":0.0,"prior":[333.3333333333333,333.3333333333333,333.3333333333333],"score":-0.0008178472898956547},"unread":0,"vault":{"counts":[0,0,0],"ledger":{"clocks":[],"dropped":[],"releases":0},"records":0,"turns":0}},"turns":["9a2da4c8b4b4c50a","87eed160432b1b93","23a89ff4cca4c214","67270b4fdd426c98"],"unseen":[]}', NULL);
INSERT INTO public.held VALUES ('bcc5ab38f87aa4e5547129e9b6538059', 2, '\x73331530e44e33da68478e59f550c1f810f6ece01310afd36125d229eebdea7553', 4);
INSERT INTO public.ledger VALUES (1, '4922352aa7e1668a19686159876550d8', 1, 0, 0, 4, '1', 1, 'read', 5);
INSERT INTO public.ledger VALUES (2, '4922352aa7e1668a19686159876550d8', 1, 2, 0, 4, '1', 2, 'read', 5);
INSERT INTO public.ledger VALUES (3, '4922352aa7e1668a19686159876550d8', 1, 1, 0, 4, '1', 3, 'read', 5);
INSERT INTO public.private_state VALUES ('4922352aa7e1668a19686159876550d8', '\x731c24660e701350f0a1d9d3a568a3a6a5f3d86f16102af7f642cdc01dcb3737492289f43fbb4ab05f74a7c92535abc5b0511c70e59035a67e440ffc3f12860b711ddd94add504680e8d0aadc5765fae8c5eabd0fd7c89f764e20838826b13451f4aeeff97985691fe41ef09d143db1d15573d9d5f47bc13797350825a3bb11f8bc322d3d4a7f0f534f92f272c4dd459760bfdcb7bfc5934d9368e3ce3dd2a49e3501ba44bfb2ecdd63db76cda3d3263575b32f34f6842fbf35e30923d917f973a9eb827a65e496eb42bb221fb35e4db480708fc7d8f7ffd7665f73f092b60b201c243579b57856bd25332b6aa90c754f33f375033443633acc9f634579304c09c3e62c1f0a88a7ef4311718ead9614c33dbaac503b8425c816f8a848ab1b30dd8ee331ea880ee3246ac77262785e1e24a1d0858823cb54a57e0968c708d63a68854b4ca716cc71af64cfcb801349d230099cebfeaf77cb3837d7068');
INSERT INTO public.private_state VALUES ('bcc5ab38f87aa4e5547129e9b6538059', '\x7318d62d8a2c6b00c319aea962a784bfe7ecb4efd5c78393dff97efef1d3988d65f676e903ba53a2dbea1d2a01b8ba6411acb56182a8c3d9c157d434b50ba090d03d0859f20585026e5d38ad3a20d9139658a9608bf7bb16f1008f77824e65984b10ea827948cd3243b44d6b53803c071156921daf0c374305f18087820779efa1d85e9f7adbfa94186706a606cc4c3041ee3ac15507ac0efb2eb7ea1ea22bd3600891bf846f39e969241e4b5263cbdbf2ced0d2c14a98357b88d7a5141f5e6c970f979b4b2dcdd492b3e0281d6a69e43d149eb08fb0379b42008eb2dbb86977ebd2d6b6941192da0a574b69648172f2d995e5863aadbf63d4aa8cf159d9ad9d18f785fe8539b2bcc803d23f2dd7d83374e2480ba0b8d5db78a7d63f697b1374573c8e0b6255b1f4fb045b9eec91303193dcb5af4c99c40b41ca4387582527830abed57312681f21b86d34ea2125280da6dca5');
INSERT INTO public.release VALUES ('4922352aa7e1668a19686159876550d8', 1, 1, '[0]', '[[2.4248046875,4,1]]', 12, 1790000000, 'fb48fd9948138e43b37484eb8d684a9eac6e18ee257bedb04e855ec30430c14a');
INSERT INTO public.release VALUES ('4922352aa7e1668a19686159876550d8', 2, 1, '[2]', '[[3.8955078125,4,1]]', 12, 1790000000, 'f1f571427fbcc310b2f2a980519a52e4422d50b7ce215ce02ea7387713a3183a');
INSERT INTO public.release VALUES ('4922352aa7e1668a19686159876550d8', 3, 1, '[1]', '[[3.3681640625,4,1]]', 12, 1790000000, 'efc9aad1ce5a15038eab7dc0c1e57eb5c6612a79a2d1e9f4dc526c5487cae472');
INSERT INTO public.request VALUES ('bcc5ab38f87aa4e5547129e9b6538059', '', 'visit', '["3ff32d2c13eafed8380ce268a50e8a050488a9cab8c67681842cc7689ecc496e",[["e556b6ccfa36c694cc0bbcad04de7109",1,1,null,"people",null,true,0.3333333333333333]]]');
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
CREATE INDEX event_campaign ON public.event USING btree (campaign, id);
CREATE INDEX ledger_moved ON public.ledger USING btree (campaign, moved);
CREATE INDEX ledger_place ON public.ledger USING btree (campaign, generation, coordinate, start);
CREATE TRIGGER ledger_append_only BEFORE DELETE OR UPDATE ON public.ledger FOR EACH ROW EXECUTE FUNCTION public.append_only();
CREATE TRIGGER release_append_only BEFORE DELETE OR UPDATE ON public.release FOR EACH ROW EXECUTE FUNCTION public.append_only();
