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
	said TEXT NOT NULL, 
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
	PRIMARY KEY ("key")
);
INSERT INTO "calls" VALUES('2cf499d50232b355b729c96fc342288f9879309002c1a79329bd50a9b3b7bc7e','transformers','tiny/local','look','{"backend":"transformers","kind":"look","model":"tiny/local","parameters":{"batch":2,"device":"cuda:0","max_new_tokens":8},"request":{"sample":0,"turns":[{"images":["0000000000000000000000000000000000000000000000000000000000000000"],"role":"user","text":"How many legs has animal 1?"}]}}','{"images":[],"outcome":"answered","score":null,"text":"{4} on the first GPU"}','tiny/local',12,3,1.5,'online','2026-11-22T09:00:00.000000+00:00');
INSERT INTO "calls" VALUES('310d2e6b8182033e4184a97fcc47ccad00c3ce612465538625083419aed37e29','transformers','tiny/local','look','{"backend":"transformers","kind":"look","model":"tiny/local","parameters":{"batch":2,"max_new_tokens":8},"request":{"sample":0,"turns":[{"images":["0000000000000000000000000000000000000000000000000000000000000000"],"role":"user","text":"How many legs has animal 3?"}]}}','{"images":[],"outcome":"answered","score":null,"text":"{4} wherever"}','tiny/local',12,3,1.5,'online','2026-11-22T09:00:00.000000+00:00');
INSERT INTO "calls" VALUES('51dceb37f5a0eac4e89e104077e1e044c7afcf4029a8a7ec10181bd6ba3a6fd6','diffusers','tiny/local','paint','{"backend":"diffusers","kind":"paint","model":"tiny/local","parameters":{"device":"cuda:0","num_inference_steps":2},"request":{"prompt":"a red square","sample":0,"seed":7}}','{"images":["659e82ae16064cd379be1a0780586aea7bf5d9f157b84ec8e3fcca14224a33a2"],"made":{"device":"cuda:0"},"outcome":"answered","score":null,"text":null}','tiny/local',NULL,NULL,1.5,'online','2026-11-22T09:00:00.000000+00:00');
INSERT INTO "calls" VALUES('b4d3cf4efbeff682ff26da14bb3e394943789a7a4ebc930786aa556ab30db10e','transformers','tiny/local','look','{"backend":"transformers","kind":"look","model":"tiny/local","parameters":{"batch":2,"device":"cuda:1","max_new_tokens":8},"request":{"sample":0,"turns":[{"images":["0000000000000000000000000000000000000000000000000000000000000000"],"role":"user","text":"How many legs has animal 2?"}]}}','{"images":[],"outcome":"answered","score":null,"text":"{4} on the second GPU"}','tiny/local',12,3,1.5,'online','2026-11-22T09:00:00.000000+00:00');
INSERT INTO "calls" VALUES('e5bc4ad00078da2a89e46bad042d9e3b0c3022a245e9889ce51abd27aada97c4','transformers','tiny/local','look','{"backend":"transformers","kind":"look","model":"tiny/local","parameters":{"batch":2,"device":"cuda:1","max_new_tokens":99},"request":{"sample":0,"turns":[{"images":["0000000000000000000000000000000000000000000000000000000000000000"],"role":"user","text":"How many legs has animal 4?"}]}}','{"images":[],"outcome":"answered","score":null,"text":"{4} at other parameters"}','tiny/local',12,3,1.5,'online','2026-11-22T09:00:00.000000+00:00');
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
	PRIMARY KEY (id)
);
CREATE TABLE spending_totals (
	scope VARCHAR NOT NULL, 
	spent BIGINT NOT NULL, 
	reserved BIGINT NOT NULL, 
	PRIMARY KEY (scope)
);
CREATE INDEX ix_batches_state ON batches (state);
CREATE INDEX ix_batch_requests_tag ON batch_requests (tag);
CREATE INDEX calls_by_model ON calls ((substr(request, 1, min(instr(request, ',"request":'), 500))), finished_at);
COMMIT;
