package ddbfake

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/tidwall/btree"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// A ClientRequestToken makes a transaction idempotent for ten minutes of the service's clock after it succeeded. A
// cancelled transaction leaves no trace: the same token may be tried again.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#DDB-TransactWriteItems-request-ClientRequestToken
const (
	tokenLife      = 10 * time.Minute
	maxTokenLength = 36
)

// token stands for a transaction that has succeeded.
type token struct {
	region, text string
	fingerprint  fingerprint.Wide
	until        time.Time
	units        []float64 // of the repetition, one for each action: see replay
}

// tokens are the transactions of the last ten minutes, and some older ones that are not removed yet.
type tokens struct {
	tree *btree.BTreeG[token]
	// hint is where the latest token stands. The SDK door's tokens count upwards, so the next one stands near it.
	hint btree.PathHint
	// pruneAt is the size at which expired tokens are removed.
	pruneAt int
}

const minPrune = 1024

func newTokens() tokens {
	less := func(a, b token) bool {
		return a.text < b.text || a.text == b.text && a.region < b.region
	}
	return tokens{tree: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true}), pruneAt: minPrune}
}

func (t tokens) copy() tokens { return tokens{tree: t.tree.Copy(), pruneAt: t.pruneAt} }

// seen reports whether the transaction with this token was done before, and returns the units of its repetition. print
// returns the fingerprint of the transaction. It is an error if the token stands for another transaction, or for one in
// progress.
func (db *DB) seen(r *request, text *string, print func() fingerprint.Wide) (units []float64, done bool, err error) {
	if text == nil {
		return nil, false, nil
	}
	if err := db.checkProgress(r, *text); err != nil {
		return nil, false, err
	}
	tokens := &db.state.tokens
	t, ok := tokens.tree.GetHint(token{region: r.region, text: *text}, &tokens.hint)
	if !ok || !r.now.Before(t.until) {
		return nil, false, nil
	}
	if t.fingerprint != print() {
		return nil, false, &types.IdempotentParameterMismatchException{Message: aws.String(
			"DynamoDB rejected the request because you retried a request with a different payload " +
				"but with an idempotent token that was already used.")}
	}
	return t.units, true, nil
}

// remember records a transaction that is done.
func (db *DB) remember(r *request, text *string, print func() fingerprint.Wide, writes []write) {
	if text == nil {
		return
	}
	db.noteToken(r, *text)
	t := &db.state.tokens
	if t.tree.Len() >= t.pruneAt {
		t.prune(r.now)
	}
	units := make([]float64, len(writes))
	for i := range writes {
		units[i] = 2 * readUnits(writes[i].largest(), true)
	}
	done := token{region: r.region, text: *text, fingerprint: print(), until: r.now.Add(tokenLife), units: units}
	t.tree.SetHint(done, &t.hint)
}

func (t *tokens) prune(now time.Time) {
	var expired []token
	t.tree.Scan(func(k token) bool {
		if !now.Before(k.until) {
			expired = append(expired, k)
		}
		return true
	})
	for _, k := range expired {
		t.tree.Delete(k)
	}
	t.pruneAt = max(minPrune, 2*t.tree.Len())
}

// Token returns the fingerprint of the transactions that a token stands for or stood for; 0 if there is none.
func (db *DB) Token(text string) uint64 {
	var sum fingerprint.Hash
	db.mu.Lock()
	defer db.mu.Unlock()
	db.state.tokens.tree.Ascend(token{text: text}, func(k token) bool {
		if k.text == text {
			h := fingerprint.Hash(1).Text(k.region).Text(text).Number(k.fingerprint[0]).
				Number(uint64(k.until.UnixNano()))
			for _, units := range k.units {
				h = h.Number(uint64(units))
			}
			sum += h
		}
		return k.text == text
	})
	return uint64(sum)
}

// fingerprintOf tells transactions apart by their actions. The order of actions matters, and so does the order of
// elements in lists and sets. The order of members and of elements in maps does not.
func fingerprintOf(in *dynamodb.TransactWriteItemsInput) fingerprint.Wide {
	var f payload
	for i := range in.TransactItems {
		item := &in.TransactItems[i]
		switch {
		case item.ConditionCheck != nil:
			p := item.ConditionCheck
			f.action('c', p.TableName, p.Key, p.ConditionExpression, nil, p.ExpressionAttributeNames,
				p.ExpressionAttributeValues, p.ReturnValuesOnConditionCheckFailure)
		case item.Put != nil:
			p := item.Put
			f.action('p', p.TableName, p.Item, p.ConditionExpression, nil, p.ExpressionAttributeNames,
				p.ExpressionAttributeValues, p.ReturnValuesOnConditionCheckFailure)
		case item.Update != nil:
			p := item.Update
			f.action('u', p.TableName, p.Key, p.ConditionExpression, p.UpdateExpression, p.ExpressionAttributeNames,
				p.ExpressionAttributeValues, p.ReturnValuesOnConditionCheckFailure)
		case item.Delete != nil:
			p := item.Delete
			f.action('d', p.TableName, p.Key, p.ConditionExpression, nil, p.ExpressionAttributeNames,
				p.ExpressionAttributeValues, p.ReturnValuesOnConditionCheckFailure)
		}
	}
	return f.Wide()
}

// payload is the fingerprint of a request. Different values add different numbers and texts: every value its type, and
// every list its length. A map adds the sum of the fingerprints of its elements, which has no order.
type payload struct{ fingerprint.Digest }

func (f *payload) optional(s *string) {
	if s == nil {
		f.Number(0)
		return
	}
	f.Number(1)
	f.Text(*s)
}

func (f *payload) action(kind uint64, table *string, values map[string]types.AttributeValue, condition, update *string,
	names map[string]string, placeholders map[string]types.AttributeValue,
	onFailure types.ReturnValuesOnConditionCheckFailure) {
	f.Number(kind)
	f.optional(table)
	f.values(values)
	f.optional(condition)
	f.optional(update)
	f.length(len(names))
	var few [fewKeys]string
	for _, name := range appendKeys(few[:0], names) {
		f.Text(name)
		f.Text(names[name])
	}
	f.values(placeholders)
	f.Text(string(onFailure))
}

func (f *payload) length(n int) { f.Number(uint64(n)) }

func (f *payload) values(m map[string]types.AttributeValue) {
	f.length(len(m))
	var sum fingerprint.Wide
	whole := *f // f serves for each element: another payload would be on the heap
	//isrsim:unordered summed up
	for name, v := range m {
		*f = payload{}
		f.Text(name)
		f.value(v)
		sum = sum.Plus(f.Wide())
	}
	*f = whole
	f.Number(sum[0])
	f.Number(sum[1])
}

func (f *payload) value(v types.AttributeValue) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		f.Number('s')
		f.Text(v.Value)
	case *types.AttributeValueMemberN:
		f.Number('n')
		f.Text(v.Value)
	case *types.AttributeValueMemberB:
		f.Number('b')
		f.Text(string(v.Value))
	case *types.AttributeValueMemberBOOL:
		if v.Value {
			f.Number('t')
		} else {
			f.Number('f')
		}
	case *types.AttributeValueMemberNULL:
		f.Number('0')
	case *types.AttributeValueMemberM:
		f.Number('m')
		f.values(v.Value)
	case *types.AttributeValueMemberL:
		f.Number('l')
		f.length(len(v.Value))
		for _, e := range v.Value {
			f.value(e)
		}
	case *types.AttributeValueMemberSS:
		f.Number('S')
		f.texts(v.Value)
	case *types.AttributeValueMemberNS:
		f.Number('N')
		f.texts(v.Value)
	case *types.AttributeValueMemberBS:
		f.Number('B')
		f.length(len(v.Value))
		for _, e := range v.Value {
			f.Text(string(e))
		}
	}
}

func (f *payload) texts(list []string) {
	f.length(len(list))
	for _, s := range list {
		f.Text(s)
	}
}

func fingerprintOfStatements(in *dynamodb.ExecuteTransactionInput) fingerprint.Wide {
	var f payload
	for i := range in.TransactStatements {
		s := &in.TransactStatements[i]
		f.statement(s.Statement, s.Parameters)
		f.Text(string(s.ReturnValuesOnConditionCheckFailure))
	}
	return f.Wide()
}

func (f *payload) statement(text *string, parameters []types.AttributeValue) {
	f.Number('x')
	f.optional(text)
	f.length(len(parameters))
	for _, v := range parameters {
		f.value(v)
	}
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return appendKeys(make([]string, 0, len(m)), m) }

// fewKeys: nearly every map has at most this many keys. Callers that need the keys only briefly have memory for that
// many on their stack.
const fewKeys = 16

// appendKeys appends a map's keys in order to a slice that is empty.
func appendKeys[V any](keys []string, m map[string]V) []string {
	//isrsim:unordered sorted below
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
