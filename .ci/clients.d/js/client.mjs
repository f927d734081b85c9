// The AWS SDK for JavaScript v3 against isr-sim serve: see .ci/clients.
import assert from 'node:assert/strict';
import {
  BatchGetItemCommand, BatchWriteItemCommand, ConditionalCheckFailedException, CreateBackupCommand, CreateTableCommand,
  DeleteBackupCommand, DeleteTableCommand, DescribeTimeToLiveCommand, DuplicateItemException, DynamoDBClient,
  ExecuteStatementCommand, ExecuteTransactionCommand, GetItemCommand, paginateQuery, paginateScan, PutItemCommand,
  RestoreTableFromBackupCommand, ScanCommand, TransactionCanceledException, TransactWriteItemsCommand,
  UpdateTableCommand, UpdateTimeToLiveCommand, waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand, ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb-streams';

const { ENDPOINT, CONTROL, OPERATIONS, A_MINUTE_AGO } = process.env;
const TableName = 'aws-sdk-js';
const options = {
  endpoint: ENDPOINT,
  region: 'us-east-1',
  credentials: { accessKeyId: 'script', secretAccessKey: 'secret' },
};
const client = new DynamoDBClient(options);
const streams = new DynamoDBStreamsClient(options);

const key = (pk, sk) => ({ pk: { S: pk }, sk: { S: sk } });
const put = (Item, more = {}) => client.send(new PutItemCommand({ TableName, Item, ...more }));
const get = (Key) => client.send(new GetItemCommand({ TableName, Key }));

// refused awaits a call that must fail with this class of error, and returns the error.
async function refused(type, call) {
  try {
    await call;
  } catch (e) {
    if (e instanceof type) return e;
    throw e;
  }
  throw new Error(`a call succeeded, want ${type.name}`);
}

async function control(path, body) {
  const response = await fetch(CONTROL + path, {
    method: 'POST', body, headers: body ? { 'Content-Type': 'application/json' } : {},
  });
  assert.equal(response.status, 200, await response.text());
}

const steps = {
  async CreateTable() {
    await client.send(new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
    }));
    await waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName });
    return 'create table';
  },

  async UpdateTimeToLive() {
    const TimeToLiveSpecification = { AttributeName: 'ttl', Enabled: true };
    const setting = new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification });
    await client.send(setting);
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
    assert.deepEqual(TimeToLiveDescription, { AttributeName: 'ttl', TimeToLiveStatus: 'ENABLED' });
    assert.equal((await refused(Error, client.send(setting))).name, 'ValidationException');
    await put({ ...key('expired', 'x'), ttl: { N: A_MINUTE_AGO } });
    for (const there of [true, false]) {
      assert.equal((await get(key('expired', 'x'))).Item !== undefined, there);
      await control('/sweep');
    }
    return 'TTL';
  },

  async PutItem() {
    const absent = { ConditionExpression: 'attribute_not_exists(pk)', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
    const first = { ...key('lock', 'LOCK'), owner: { S: 'first' } };
    await put(first, absent);
    const failed = await refused(ConditionalCheckFailedException, put(key('lock', 'LOCK'), absent));
    assert.equal(failed.message, 'The conditional request failed');
    assert.deepEqual(failed.Item, first);

    // The put takes effect, its response is lost, and the SDK's own retry fails on the condition.
    await control('/faults', '{"faults":["response-lost op=PutItem actor=script"]}');
    const retried = await refused(ConditionalCheckFailedException, put(key('lost', 'LOCK'), absent));
    assert.equal(retried.$metadata.attempts, 2);
    return 'conditional put, lost response';
  },

  async TransactWriteItems() {
    const cancelled = await refused(TransactionCanceledException, client.send(new TransactWriteItemsCommand({
      TransactItems: [
        { Put: { TableName, Item: key('lock', 'META') } },
        {
          Delete: {
            TableName, Key: key('lock', 'LOCK'),
            ConditionExpression: '#o = :o',
            ExpressionAttributeNames: { '#o': 'owner' },
            ExpressionAttributeValues: { ':o': { S: 'second' } },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        },
      ],
    })));
    const [first, second] = cancelled.CancellationReasons;
    assert.equal(first.Code, 'None');
    assert.equal(second.Code, 'ConditionalCheckFailed');
    assert.deepEqual(second.Item, { ...key('lock', 'LOCK'), owner: { S: 'first' } });
    assert.equal((await get(key('lock', 'META'))).Item, undefined);
    return 'failed transaction';
  },

  async Query() {
    const want = Array.from({ length: 25 }, (_, i) => String(i).padStart(2, '0'));
    for (const sk of want) await put(key('many', sk));
    const pages = [];
    for await (const page of paginateQuery({ client, pageSize: 10 }, {
      TableName, KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': { S: 'many' } },
    })) pages.push(page.Items.map((item) => item.sk.S));
    assert.deepEqual(pages.map((page) => page.length), [10, 10, 5]);
    assert.deepEqual(pages.flat(), want);
    return 'paginated query';
  },

  async Scan() {
    let rows = 0;
    for await (const page of paginateScan({ client, pageSize: 10 }, { TableName })) {
      rows += page.Items.filter((item) => item.pk.S === 'many').length;
    }
    assert.equal(rows, 25);
    return 'paginated scan';
  },

  async BatchGetItem() {
    const keys = Array.from({ length: 20 }, (_, i) => key('batch', String(i)));
    const written = await client.send(new BatchWriteItemCommand({
      RequestItems: { [TableName]: keys.map((Item) => ({ PutRequest: { Item } })) },
    }));
    assert.deepEqual(written.UnprocessedItems, {});
    const read = await client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: keys } } }));
    assert.equal(read.Responses[TableName].length, 20);
    assert.deepEqual(read.UnprocessedKeys, {});
    return 'batches';
  },

  // A row that comes, and that TTL deletes.
  async GetRecords() {
    const { TableDescription: { LatestStreamArn: StreamArn } } = await client.send(new UpdateTableCommand({
      TableName, StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }));
    const row = { ...key('expired', 'stream'), ttl: { N: A_MINUTE_AGO } };
    await put(row);
    await control('/sweep');
    const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
    const { ShardId } = StreamDescription.Shards[0];
    const start = (arn) =>
      streams.send(new GetShardIteratorCommand({ StreamArn: arn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }));
    const { ShardIterator } = await start(StreamArn);
    const records = await streams.send(new GetRecordsCommand({ ShardIterator }));
    const { Records: [inserted, removed], NextShardIterator } = records;
    assert.equal(inserted.eventName, 'INSERT');
    assert.deepEqual(inserted.dynamodb.NewImage, row);
    assert.equal(removed.eventName, 'REMOVE');
    assert.deepEqual(removed.dynamodb.OldImage, row);
    assert.deepEqual(removed.userIdentity, { Type: 'Service', PrincipalId: 'dynamodb.amazonaws.com' });
    const { Records } = await streams.send(new GetRecordsCommand({ ShardIterator: NextShardIterator }));
    assert.deepEqual(Records, []);
    await refused(ResourceNotFoundException, start(`${StreamArn}0`));
    return 'stream';
  },

  async ExecuteStatement() {
    const run = (Statement, more = {}) => client.send(new ExecuteStatementCommand({ Statement, ...more }));
    await run(`INSERT INTO "${TableName}" VALUE {'pk': 'ql', 'sk': ?, 'n': 1}`, { Parameters: [{ S: 'a' }] });
    await refused(DuplicateItemException, run(`INSERT INTO "${TableName}" VALUE {'pk': 'ql', 'sk': 'a'}`));
    await client.send(new ExecuteTransactionCommand({
      TransactStatements: ['b', 'c'].map((sk) => (
        { Statement: `INSERT INTO "${TableName}" VALUE {'pk': 'ql', 'sk': '${sk}'}` })),
    }));
    const read = [`SELECT sk FROM "${TableName}" WHERE pk = 'ql' ORDER BY sk DESC`, { Limit: 2 }];
    const first = await run(...read);
    const rest = await run(read[0], { ...read[1], NextToken: first.NextToken });
    assert.deepEqual([...first.Items, ...rest.Items].map((row) => row.sk.S), ['c', 'b', 'a']);
    return 'PartiQL';
  },

  async CreateBackup() {
    const count = async (name) => (await client.send(new ScanCommand({ TableName: name, Select: 'COUNT' }))).Count;
    const rows = await count(TableName);
    const made = await client.send(new CreateBackupCommand({ TableName, BackupName: 'before' }));
    const { BackupDetails: { BackupArn } } = made;
    await put(key('later', 'x'));
    const TargetTableName = `${TableName}-restored`;
    await client.send(new RestoreTableFromBackupCommand({ TargetTableName, BackupArn }));
    await waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName: TargetTableName });
    assert.equal(await count(TargetTableName), rows);
    await client.send(new DeleteTableCommand({ TableName: TargetTableName }));
    await client.send(new DeleteBackupCommand({ BackupArn }));
    return 'backups';
  },

  async UpdateTable() {
    const there = new DynamoDBClient({ ...options, region: 'eu-west-1' });
    await client.send(new UpdateTableCommand({ TableName, ReplicaUpdates: [{ Create: { RegionName: 'eu-west-1' } }] }));
    for (const [at, other, sk] of [[client, there, 'here'], [there, client, 'there']]) {
      await at.send(new PutItemCommand({ TableName, Item: key('global', sk) }));
      await control('/replicate');
      const { Item } = await other.send(new GetItemCommand({ TableName, Key: key('global', sk) }));
      assert.deepEqual(Item, key('global', sk));
    }
    return 'global table';
  },
};

for (const [needs, step] of Object.entries(steps)) {
  if (!OPERATIONS.split(' ').includes(needs)) {
    console.log(`js: not supported yet: ${needs}`);
    continue;
  }
  try {
    console.log(`js: ${await step()}`);
  } catch (e) {
    console.error(`js: ${needs}:`, e);
    process.exit(1);
  }
}
