// Two readers find nothing; alice is held before her LOCK put until bob has published.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import readline from 'node:readline';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as cache from './cache';

let running: ChildProcess;
let server: { endpoint: string; control: string };

beforeEach(async () => {
  const command = process.env.ISR_SIM ?? 'isr-sim';
  const started = spawn(command, ['serve', '--clock', 'manual'], { stdio: ['ignore', 'pipe', 'inherit'] });
  running = started;
  const [line] = await once(readline.createInterface({ input: started.stdout }), 'line');
  server = JSON.parse(line);
});

afterEach(async () => {
  const ended = once(running, 'exit');
  running.kill('SIGTERM');
  const [code] = await ended;
  expect(code).toBe(0); // it is 3 if a held request was never released
});

const client = (accessKeyId: string) => new DynamoDBClient({
  endpoint: server.endpoint, region: 'us-east-1', maxAttempts: 1,
  credentials: { accessKeyId, secretAccessKey: 'secret' },
});

async function control(path: string, body: unknown): Promise<void> {
  const answer = await fetch(server.control + path, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

test.each([
  { lookAgain: true, want: 1 },
  { lookAgain: false, want: 2 },
])('look again $lookAgain: renders $want times', async ({ lookAgain, want }) => {
  const alice = client('alice');
  const bob = client('bob');
  await alice.send(new CreateTableCommand({
    TableName: cache.TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
  }));
  const renders: string[] = [];
  const reader = (db: DynamoDBClient, name: string) =>
    cache.get(db, () => { renders.push(name); return name; }, lookAgain);

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
