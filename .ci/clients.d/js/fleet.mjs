// One process of a fleet with an ISR cache, with the AWS SDK for JavaScript v3 against isr-sim serve --check: see
// .ci/clients. It posts what it sees to the control API (docs/CONTROL.md).
//
// LOOKS=twice is a correct cache: it reads META again once it has the lease. LOOKS=once renders a page that another
// process may have made in the meantime, as a public runtime does.
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateTableCommand, DeleteItemCommand, DynamoDBClient, GetItemCommand, PutItemCommand, TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';

const { ENDPOINT, CONTROL, AWS_ACCESS_KEY_ID: actor, LOOKS, PAGES, START } = process.env;
const TableName = 'fleet';
const db = new DynamoDBClient({ endpoint: ENDPOINT, region: 'us-east-1' });

const post = async (...events) => {
  const answer = await fetch(`${CONTROL}/history`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(events.map((e) => ({ actor, ...e }))),
  });
  if (!answer.ok) throw new Error(await answer.text());
};

const S = (text) => ({ S: text });
const N = (number) => ({ N: String(number) });
const now = () => Math.floor(Date.now() / 1000);
const row = (key, sk) => ({ pk: S('CACHE#' + createHash('sha256').update(key).digest('hex')), sk: S(sk) });

const read = async (key) => (await db.send(new GetItemCommand({ TableName, Key: row(key, 'META'), ConsistentRead: true }))).Item;
const fresh = (meta) => meta !== undefined && now() < Number(meta.generated_at.N) + Number(meta.revalidate_seconds.N);

const acquire = async (key, token) => {
  try {
    await db.send(new PutItemCommand({
      TableName,
      Item: { ...row(key, 'LOCK'), lease_token: S(token), lease_expires_at: N(now() + 31) },
      ConditionExpression: 'attribute_not_exists(pk) OR lease_expires_at <= :now',
      ExpressionAttributeValues: { ':now': N(now()) },
    }));
    return true;
  } catch (e) {
    if (e.name === 'ConditionalCheckFailedException') return false;
    throw e;
  }
};

const own = (key, token) => ({
  TableName,
  Key: row(key, 'LOCK'),
  ConditionExpression: 'lease_token = :token AND lease_expires_at > :now',
  ExpressionAttributeValues: { ':token': S(token), ':now': N(now()) },
});

async function regenerate(key, token) {
  const generated = now();
  await sleep(5); // the origin
  const html = `${key} by ${actor} ${token}`;
  await post({ kind: 'rendered', key, body: html, revalidate: '60s' });
  await db.send(new TransactWriteItemsCommand({
    TransactItems: [
      { Put: { TableName, Item: { ...row(key, 'META'), html: S(html), generated_at: N(generated), revalidate_seconds: N(60) } } },
      { Delete: own(key, token) },
    ],
  }));
  return html;
}

async function get(key) {
  for (;;) {
    let meta = await read(key);
    if (fresh(meta)) return meta.html.S;
    const token = randomUUID();
    if (!await acquire(key, token)) {
      await sleep(2);
      continue;
    }
    if (LOOKS === 'twice') meta = await read(key);
    if (!fresh(meta)) return await regenerate(key, token);
    await db.send(new DeleteItemCommand(own(key, token)));
    return meta.html.S;
  }
}

if (process.argv[2] === 'setup') {
  await db.send(new CreateTableCommand({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
  }));
  process.exit();
}

await read('/warm'); // the connection
for (let i = 0; i < Number(PAGES); i++) {
  const key = `/page/${i}`;
  await sleep(Math.max(0, Number(START) + 100 * i - Date.now()) + 2 * Math.random());
  await post({ kind: 'asked', key });
  const body = await get(key);
  await post({ kind: 'served', key, body, fresh: true });
}
