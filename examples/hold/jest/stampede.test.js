// Two readers find nothing; alice is held before her LOCK put until bob has published.
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const readline = require('node:readline');
const { CreateTableCommand, DynamoDBClient } = require('@aws-sdk/client-dynamodb');
const cache = require('./cache');

let process_, server;

beforeEach(async () => {
  process_ = spawn(process.env.ISR_SIM ?? 'isr-sim', ['serve', '--clock', 'manual'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(readline.createInterface({ input: process_.stdout }), 'line');
  server = JSON.parse(line);
});

afterEach(async () => {
  const ended = once(process_, 'exit');
  process_.kill('SIGTERM');
  const [code] = await ended;
  expect(code).toBe(0); // it is 3 if a held request was never released
});

const client = (accessKeyId) => new DynamoDBClient({
  endpoint: server.endpoint, region: 'us-east-1', maxAttempts: 1, credentials: { accessKeyId, secretAccessKey: 'secret' },
});

async function control(path, body) {
  const answer = await fetch(server.control + path, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

test.each([[true, 1], [false, 2]])('look again %p: renders %p times', async (lookAgain, want) => {
  const alice = client('alice');
  const bob = client('bob');
  await alice.send(new CreateTableCommand({
    TableName: cache.TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
  }));
  const renders = [];
  const reader = (db, name) => cache.get(db, () => { renders.push(name); return name; }, lookAgain);

  await control('/faults', { faults: ['hold op=PutItem key=LOCK actor=alice'] });
  const first = reader(alice, 'alice');
  await control('/held', { count: 1 }); // alice has found nothing
  await reader(bob, 'bob'); // bob finds nothing either, renders and publishes
  await control('/release', { all: true });
  await first;
  expect(renders).toHaveLength(want);
  alice.destroy();
  bob.destroy();
});
