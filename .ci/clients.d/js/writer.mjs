// Writers of an ISR cache with the AWS SDK for JavaScript v3 against isr-sim serve --check: see .ci/clients.
//
// The server says nothing of a correct writer. It names a writer without a fence as soon as it has answered its
// request.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand, DeleteItemCommand, DynamoDBClient, PutItemCommand, TransactWriteItemsCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';

const { ENDPOINT, CONTROL } = process.env;
const TableName = 'js-cache';
const client = (accessKeyId) => new DynamoDBClient({
  endpoint: ENDPOINT, region: 'us-east-1', credentials: { accessKeyId, secretAccessKey: 'secret' },
});

const S = (text) => ({ S: text });
const N = (number) => ({ N: String(number) });
const key = (sk) => ({ pk: S('CACHE#1'), sk: S(sk) });
const now = () => Math.floor(Date.now() / 1000);

const acquire = (db, token) => db.send(new PutItemCommand({
  TableName,
  Item: { ...key('LOCK'), lease_token: S(token), lease_expires_at: N(now() + 30), ttl: N(now() + 3630) },
  ConditionExpression: 'attribute_not_exists(pk) OR lease_expires_at <= :now',
  ExpressionAttributeValues: { ':now': N(now()) },
}));

const meta = (body) => ({
  ...key('META'), s3_key: S(body), generated_at: N(now()), revalidate_seconds: N(60), ttl: N(now() + 3660),
});

// One transaction puts META and releases the lease, if it is still one's own.
const publish = (db, token) => db.send(new TransactWriteItemsCommand({
  TransactItems: [
    { Put: { TableName, Item: meta(`pages/${token}`) } },
    {
      Delete: {
        TableName,
        Key: key('LOCK'),
        ConditionExpression: 'lease_token = :token AND lease_expires_at > :now',
        ExpressionAttributeValues: { ':token': S(token), ':now': N(now()) },
      },
    },
  ],
}));

// META is put, and nobody asks whose lease it is.
const publishWithoutAFence = (db, token) => db.send(new PutItemCommand({ TableName, Item: meta(`pages/${token}`) }));

async function found() {
  const response = await fetch(`${CONTROL}/violations`);
  return (await response.json()).found.map((f) => `${f.verdict} ${f.invariant} ${f.actor}`);
}

const careful = client('careful-js');
const careless = client('careless-js');
await careful.send(new CreateTableCommand({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
}));
await waitUntilTableExists({ client: careful, minDelay: 1, maxDelay: 2, maxWaitTime: 10 }, { TableName });

const before = await found();
for (let i = 0; i < 3; i += 1) {
  const token = randomUUID();
  await acquire(careful, token);
  await publish(careful, token);
}
assert.deepEqual(await found(), before, 'after three publishes of a correct writer');

const late = randomUUID();
await acquire(careless, late);
await careless.send(new DeleteItemCommand({ TableName, Key: key('LOCK') })); // as if it had slept past its lease
const token = randomUUID();
await acquire(careful, token);
assert.deepEqual(await found(), before, 'while nobody has published out of turn');
await publishWithoutAFence(careless, late);
const violated = ['violated stale-writer careless-js'];
assert.deepEqual((await found()).slice(before.length), violated, 'after one publish without a fence');
await publish(careful, token);
assert.deepEqual((await found()).slice(before.length + 1), [], 'after the correct writer went on');
console.log('clients: AWS SDK for JavaScript: a writer without a fence is named, a correct one is not');
