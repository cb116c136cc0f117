BEGIN TRANSACTION;
CREATE TABLE batch_requests (
	"key" VARCHAR NOT NULL, 
	tag VARCHAR NOT NULL, 
	request TEXT NOT NULL, 
	booking VARCHAR NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE batches (
	tag VARCHAR NOT NULL, 
	model VARCHAR NOT NULL, 
	entry TEXT NOT NULL, 
	asset VARCHAR NOT NULL, 
	partition VARCHAR NOT NULL, 
	run VARCHAR NOT NULL, 
	config TEXT NOT NULL, 
	requests INTEGER NOT NULL, 
	submitted_at VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	provider_id VARCHAR, 
	provider_status TEXT NOT NULL, 
	collected_at VARCHAR, 
	endings TEXT NOT NULL, 
	lacking TEXT, 
	owner VARCHAR NOT NULL, 
	lease_end DOUBLE NOT NULL, 
	PRIMARY KEY (tag)
);
CREATE TABLE calls (
	"key" VARCHAR NOT NULL, 
	backend VARCHAR NOT NULL, 
	model VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	request TEXT NOT NULL, 
	answer TEXT NOT NULL, 
	served_model VARCHAR, 
	input_tokens INTEGER, 
	output_tokens INTEGER, 
	seconds DOUBLE NOT NULL, 
	mode VARCHAR NOT NULL, 
	finished_at VARCHAR NOT NULL, 
	checksum VARCHAR NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "calls" VALUES('1829978cbb78e5ca11ee66e486cf6759c5c62ce7069b3308710af456419e3e0a','openai_compatible','model-1','look','{"backend":"openai_compatible","kind":"look","model":"model-1","parameters":{"max_tokens":900,"temperature":1},"request":{"sample":0,"turns":[{"images":[],"role":"system","text":"Ü"},{"images":["69b8b6066a9c9dcb01e291f1086eea2b28fe361dede408c545deef9f3e125f9d"],"role":"user","text":"How many legs? 🇳🇵"}]}}','{"images":[],"outcome":"answered","score":null,"text":"{5}"}','vlm-1-of-may',12,NULL,0.25,'online','2026-03-02T04:05:06.000789+00:00','1829978cbb78e5ca9c9bc78de9a880840ff422ed0bc2ac8c');
INSERT INTO "calls" VALUES('7ba856d8d94f195cdd7019af763b9639d0da7c6a836e6dc43e99531993a10c38','openai','model-1','write','{"backend":"openai","kind":"write","model":"model-1","parameters":{},"request":{"sample":2,"schema":"{\"type\": \"object\"}","turns":[{"images":[],"role":"user","text":"A concept."}]}}','{"kind":"model","outcome":"refused","reason":"quoted \"text\", a null \u0000, and flags \ud83c\uddf3\ud83c\uddf5"}','vlm-1-of-may',12,NULL,0.25,'online','2026-03-02T04:05:06.000789+00:00','7ba856d8d94f195c719e2bb46159cabf2e4f4e8f24991640');
INSERT INTO "calls" VALUES('c5f3f922df2a093c94d2a8243536fdb96bfc7e58d12e5154515b9dc918910fd3','openai','model-1','edit','{"backend":"openai","kind":"edit","model":"model-1","parameters":{"quality":"high"},"request":{"images":["69b8b6066a9c9dcb01e291f1086eea2b28fe361dede408c545deef9f3e125f9d"],"prompt":"Add a leg.","sample":0,"seed":null}}','{"images":["08b78f0c0ef8e0a18fbdb35a72d7e08d236938c439f4595a56c5f4d5aefbc17f"],"outcome":"answered","score":null,"text":null}','vlm-1-of-may',12,NULL,0.25,'online','2026-03-02T04:05:06.000789+00:00','c5f3f922df2a093c987425380ee942acdd14c73b7d26c53e');
INSERT INTO "calls" VALUES('d2f8dc0b93e11b44e094a565a331e8d1708ab593e17cc914f53750d9a9f21e27','transformers','model-1','score','{"backend":"transformers","kind":"score","model":"model-1","parameters":{"formula":"clip_score"},"request":{"image":"69b8b6066a9c9dcb01e291f1086eea2b28fe361dede408c545deef9f3e125f9d","sample":0,"text":"A dog."}}','{"images":[],"outcome":"answered","score":0.25,"text":null}','vlm-1-of-may',12,NULL,0.25,'online','2026-03-02T04:05:06.000789+00:00','d2f8dc0b93e11b4458876179e4cbb1e685f108c1fbcb79e7');
INSERT INTO "calls" VALUES('ec999853e0c50d909b940ca036cd369c2c94a8e9b0446783d6cb9b8bde455525','gemini','model-1','paint','{"backend":"gemini","kind":"paint","model":"model-1","parameters":{},"request":{"prompt":"A dog.","sample":0,"seed":7}}','{"images":["08b78f0c0ef8e0a18fbdb35a72d7e08d236938c439f4595a56c5f4d5aefbc17f"],"outcome":"answered","score":null,"text":null}','vlm-1-of-may',12,NULL,0.25,'online','2026-03-02T04:05:06.000789+00:00','ec999853e0c50d903117cff844a2c3a5c51b1193adc0aa94');
CREATE TABLE claims (
	"key" VARCHAR NOT NULL, 
	owner VARCHAR NOT NULL, 
	lease_end DOUBLE NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE spending (
	id VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	asset VARCHAR NOT NULL, 
	partition VARCHAR NOT NULL, 
	run VARCHAR NOT NULL, 
	model VARCHAR NOT NULL, 
	mode VARCHAR NOT NULL, 
	month VARCHAR NOT NULL, 
	bound BIGINT, 
	cost BIGINT, 
	state VARCHAR NOT NULL, 
	checksum BIGINT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE spending_totals (
	scope VARCHAR NOT NULL, 
	spent BIGINT NOT NULL, 
	reserved BIGINT NOT NULL, 
	checksum BIGINT NOT NULL, 
	PRIMARY KEY (scope)
);
CREATE INDEX ix_batch_requests_tag ON batch_requests (tag);
CREATE INDEX ix_batches_state ON batches (state);
CREATE INDEX calls_by_model ON calls ((substr(request, 1, min(instr(request, ',"request":'), 500))), finished_at);
CREATE INDEX calls_by_checksum ON calls ((substr(checksum, 1, 16)));
COMMIT;
