package ddbfake_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// benchRows is the size of the table that benchmarks work on.
const benchRows = 1000

// cacheKey is a key of realistic length.
func cacheKey(i int) string { return fmt.Sprintf("CACHE#%064x", i) }

func metaItem(i int) values {
	return values{
		"pk": s(cacheKey(i)), "sk": s("META"), "s3_key": s("isr/" + cacheKey(i)), "generated_at": n("2208988800"),
		"revalidate_seconds": n("60"), "etag": s(`"0123456789abcdef"`), "ttl": n("2209075200"),
	}
}

func lockItem(i int) values {
	return values{
		"pk": s(cacheKey(i)), "sk": s("LOCK"), "lease_token": s("7b3c9f2e-1111-2222-3333-444455556666"),
		"lease_expires_at": n("2208988830"), "ttl": n("2208989130"),
	}
}

// bench fills a table and runs f for i = 0, 1, 2, ... The change log is cut back now and then, so that a benchmark does
// not measure its growth.
func bench(b *testing.B, f func(w *world, i int) error) {
	w := newWorld(b, ddbfake.LagManual)
	w.enableTTL()
	for i := range benchRows {
		w.put(metaItem(i), lockItem(i))
	}
	start := w.db.Snapshot()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%10_000 == 9_999 {
			w.db.Restore(start)
		}
		if err := f(w, i%benchRows); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGetItem(b *testing.B) {
	keys := make([]values, benchRows)
	for i := range keys {
		keys[i] = key(cacheKey(i), "META")
	}
	bench(b, func(w *world, i int) error {
		_, err := w.c.GetItem(b.Context(), &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: keys[i], ConsistentRead: aws.Bool(true)})
		return err
	})
}

func BenchmarkPutItem(b *testing.B) {
	items := make([]values, benchRows)
	for i := range items {
		items[i] = with(metaItem(i), "etag", s("other"))
	}
	bench(b, func(w *world, i int) error {
		_, err := w.c.PutItem(b.Context(), &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: items[i]})
		return err
	})
}

func BenchmarkConditionalPut(b *testing.B) {
	items := make([]values, benchRows)
	for i := range items {
		items[i] = with(lockItem(i), "lease_token", s("other"))
	}
	args := values{":now": n("2208999999")}
	condition := aws.String("attribute_not_exists(pk) OR lease_expires_at <= :now")
	bench(b, func(w *world, i int) error {
		_, err := w.c.PutItem(b.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("cache"), Item: items[i], ConditionExpression: condition, ExpressionAttributeValues: args,
		})
		return err
	})
}

func BenchmarkConditionalUpdate(b *testing.B) {
	keys := make([]values, benchRows)
	for i := range keys {
		keys[i] = key(cacheKey(i), "LOCK")
	}
	args := [2]values{}
	for i := range args {
		args[i] = values{":token": s("7b3c9f2e-1111-2222-3333-444455556666"), ":now": n("2208988801"), ":until": n(fmt.Sprint(2208988900 + i))}
	}
	names := map[string]string{"#token": "lease_token", "#until": "lease_expires_at"}
	bench(b, func(w *world, i int) error {
		_, err := w.c.UpdateItem(b.Context(), &dynamodb.UpdateItemInput{
			TableName: aws.String("cache"), Key: keys[i], UpdateExpression: aws.String("SET #until = :until"),
			ConditionExpression:      aws.String("#token = :token AND #until > :now"),
			ExpressionAttributeNames: names, ExpressionAttributeValues: args[i%2],
		})
		return err
	})
}

func BenchmarkTransaction(b *testing.B) {
	metas, locks := make([]values, benchRows), make([]values, benchRows)
	for i := range metas {
		metas[i], locks[i] = metaItem(i), key(cacheKey(i), "LOCK")
	}
	args := values{":token": s("7b3c9f2e-1111-2222-3333-444455556666"), ":now": n("2208988801")}
	bench(b, func(w *world, i int) error {
		_, err := w.c.TransactWriteItems(b.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: aws.String("cache"), Item: metas[i]}},
			{Update: &types.Update{
				TableName: aws.String("cache"), Key: locks[i], UpdateExpression: aws.String("ADD released :now"),
				ConditionExpression:       aws.String("lease_token = :token AND lease_expires_at > :now"),
				ExpressionAttributeValues: args,
			}},
		}})
		return err
	})
}

func BenchmarkQuery(b *testing.B) {
	args := make([]values, benchRows)
	for i := range args {
		args[i] = values{":pk": s(cacheKey(i))}
	}
	bench(b, func(w *world, i int) error {
		_, err := w.c.Query(b.Context(), &dynamodb.QueryInput{
			TableName: aws.String("cache"), KeyConditionExpression: aws.String("pk = :pk"), ExpressionAttributeValues: args[i],
		})
		return err
	})
}

func BenchmarkSnapshot(b *testing.B) {
	bench(b, func(w *world, i int) error {
		w.db.Snapshot()
		return nil
	})
}

func BenchmarkRestore(b *testing.B) {
	w := newWorld(b, ddbfake.LagManual)
	for i := range benchRows {
		w.put(metaItem(i))
	}
	start := w.db.Snapshot()
	for b.Loop() {
		w.db.Restore(start)
	}
}

func BenchmarkHash(b *testing.B) {
	bench(b, func(w *world, i int) error {
		w.db.Hash()
		return nil
	})
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ddbfake.New(ddbfake.Options{})
	}
}

// BenchmarkWorld measures the work that a simulator does once a schedule.
func BenchmarkWorld(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newWorld(b, ddbfake.LagManual)
		}
	})
	w := newWorld(b, ddbfake.LagManual)
	w.put(metaItem(0), lockItem(0))
	db, start := w.db, w.db.Snapshot()
	b.Run("restore", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			db.Restore(start)
		}
	})
	b.Run("snapshot", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			db.Snapshot()
		}
	})
	b.Run("hash", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			db.Hash()
		}
	})
	// A write and a look at it, as after every step.
	b.Run("change", func(b *testing.B) {
		inputs := [2]*dynamodb.PutItemInput{}
		for i := range inputs {
			item := with(lockItem(0), "lease_expires_at", n(fmt.Sprint(2208988830+i)))
			inputs[i] = &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: item}
		}
		b.ReportAllocs()
		seen := 0
		for i := 0; b.Loop(); i++ {
			if i%100 == 0 {
				db.Restore(start)
				seen = 2
			}
			if _, err := w.c.PutItem(b.Context(), inputs[i%2]); err != nil {
				b.Fatal(err)
			}
			for _, c := range db.ChangesSince(seen) {
				seen = c.Seq
			}
		}
	})
}
