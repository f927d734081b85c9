package conformance

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// usualTable is the table of requests that name no other.
const usualTable = "rows"

// world is what a case knows about the store on which it runs.
type world struct {
	store  Store
	prefix string // the prefix of the names of this case's tables
	arn    string // the ARN of its tables, without their names; known once one is created

	seen    streamsSeen
	next    *string // the NextToken of a statement
	began   time.Time
	backups []backupSeen
	// replicas are the regions in which the usual table got replicas, with the regions from which it got them.
	replicas []replicaSeen
	strong   bool   // the usual table is strongly consistent
	witness  string // and has a witness in this region; "" for none
}

// name returns the real name of one of the case's tables.
func (w *world) name(table string) string { return w.prefix + table }

// arnOf returns the ARN of one of the case's tables.
func (w *world) arnOf(table string) *string { return aws.String(w.arn + w.name(table)) }

// statement puts the names of the case's tables into a statement, in which they stand in double quotes.
func (w *world) statement(text string) *string {
	for _, table := range []string{usualTable, "other", "missing"} {
		text = strings.ReplaceAll(text, `"`+table+`"`, `"`+w.name(table)+`"`)
	}
	return aws.String(text)
}

var (
	placeholder = regexp.MustCompile(`\$\{([^}]*)\}`)
	repetition  = regexp.MustCompile(`\$\{([^}]*)\*(\d+)\}`)
)

// repeated expands repetitions: ${ab*3} is ababab.
func repeated(text string) string {
	return repetition.ReplaceAllStringFunc(text, func(found string) string {
		part := repetition.FindStringSubmatch(found)
		times, _ := strconv.Atoi(part[2])
		return strings.Repeat(part[1], times)
	})
}

// expand replaces the placeholders of a text: repetitions, and what a case cannot know in advance.
func (w *world) expand(text string) (expanded string, err error) {
	expanded = placeholder.ReplaceAllStringFunc(repeated(text), func(found string) string {
		var value string
		if value, err = w.known(strings.Fields(found[2 : len(found)-1])); err != nil {
			err = fmt.Errorf("%s: %w", found, err)
		}
		return value
	})
	return expanded, err
}

// known returns the value of a placeholder. Numbers count from 1.
//
//	name T, arn T      a table of the case
//	stream 1, backup 1 what was seen, in the order in which it began
//	record 1           a sequence number of the records read last
//	shard, last shard  the shards described last
//	iterator, next     where the last answer goes on: a stream's, a statement's
//	now-60s, start+1m  a time, by the store's clock in seconds, and since the case began
//
// An ARN may be given another region, as in ${arn rows region=eu-west-1}, and another service or partition.
func (w *world) known(words []string) (string, error) {
	n, at := 0, ""
	if len(words) > 1 {
		at = words[1]
		n, _ = strconv.Atoi(at)
	}
	what := strings.Join(words, " ")
	switch {
	case what == "shard":
		return w.seen.shard, nil
	case what == "last shard":
		return w.seen.last, nil
	case what == "iterator":
		return w.seen.iterator, nil
	case what == "next":
		return aws.ToString(w.next), nil
	case strings.HasPrefix(what, "now"):
		after, err := since(what, "now")
		return strconv.FormatInt(w.store.Clock.Now().Add(after).Unix(), 10), err
	case strings.HasPrefix(what, "start"):
		after, err := since(what, "start")
		return w.began.Add(after).Format(time.RFC3339Nano), err
	case strings.HasPrefix(what, "name"):
		return w.name(at), nil
	case strings.HasPrefix(what, "arn "):
		return inARN(*w.arnOf(at), words[2:]), nil
	case strings.HasPrefix(what, "backup ") && n > 0:
		return inARN(w.backup(n), words[2:]), nil
	case strings.HasPrefix(what, "stream ") && n > 0:
		return w.stream(n), nil
	case strings.HasPrefix(what, "record ") && n > 0:
		if n > len(w.seen.sequence) {
			return "", fmt.Errorf("found %d records, expected one more", len(w.seen.sequence))
		}
		return w.seen.sequence[n-1], nil
	}
	return "", fmt.Errorf("found the placeholder %q, expected one such as name rows, stream 1 or x*3", what)
}

// since reads the duration in a placeholder for a time.
func since(what, word string) (time.Duration, error) {
	if what == word {
		return 0, nil
	}
	return time.ParseDuration(strings.TrimPrefix(what, word))
}

// inARN replaces parts of an ARN: its partition, service or region.
func inARN(arn string, changes []string) string {
	parts := strings.Split(arn, ":")
	for _, change := range changes {
		name, value, _ := strings.Cut(change, "=")
		if i := map[string]int{"partition": 1, "service": 2, "region": 3}[name]; i > 0 && i < len(parts) {
			parts[i] = value
		}
	}
	return strings.Join(parts, ":")
}

// home is the store's region. Cases about global tables start with the usual table there.
const home = "us-east-1"

// elsewhere is a request to another region.
type elsewhere struct {
	region string
	in     any
}

func deleting(region string) types.ReplicationGroupUpdate {
	return types.ReplicationGroupUpdate{
		Delete: &types.DeleteReplicationGroupMemberAction{RegionName: aws.String(region)},
	}
}

// replicasText prints the replicas of a global table, as [eu-west-1 ACTIVE].
func replicasText(t *types.TableDescription) string {
	if t.GlobalTableVersion == nil {
		return ""
	}
	var replicas []string
	for _, r := range t.Replicas {
		text := fmt.Sprintf("%s %s", aws.ToString(r.RegionName), r.ReplicaStatus)
		if c := r.ReplicaTableClassSummary; c != nil {
			text += " " + string(c.TableClass)
		}
		if o := r.OnDemandThroughputOverride; o != nil {
			text += fmt.Sprintf(" at most %d", aws.ToInt64(o.MaxReadRequestUnits))
		}
		if r.KMSMasterKeyId != nil {
			text += " with a key"
		}
		for _, x := range r.GlobalSecondaryIndexes {
			text += " " + aws.ToString(x.IndexName)
		}
		replicas = append(replicas, text)
	}
	text := fmt.Sprintf("; global %s [%s]", *t.GlobalTableVersion, strings.Join(replicas, ", "))
	if t.MultiRegionConsistency != "" {
		text += " " + string(t.MultiRegionConsistency)
	}
	for _, w := range t.GlobalTableWitnesses {
		text += fmt.Sprintf(" witness %s %s", aws.ToString(w.RegionName), w.WitnessStatus)
	}
	return text
}

// replicaSeen is a replica that a case has made.
type replicaSeen struct{ region, source string }

// noteReplicas learns from a successful request.
func (w *world) noteReplicas(in any) {
	source := home
	if there, ok := in.(elsewhere); ok {
		source, in = there.region, there.in
	}
	gone := func(region string) {
		w.replicas = slices.DeleteFunc(w.replicas, func(r replicaSeen) bool { return r.region == region })
	}
	switch in := in.(type) {
	case *dynamodb.DeleteTableInput:
		gone(source)
	case *dynamodb.UpdateTableInput:
		if in.MultiRegionConsistency == types.MultiRegionConsistencyStrong {
			w.strong = true
		}
		for _, u := range in.GlobalTableWitnessUpdates {
			if u.Create != nil {
				w.witness = aws.ToString(u.Create.RegionName)
			}
		}
		for i := range in.ReplicaUpdates {
			u := &in.ReplicaUpdates[i]
			if u.Create != nil {
				gone(*u.Create.RegionName)
				w.replicas = append(w.replicas, replicaSeen{*u.Create.RegionName, source})
			}
			if u.Delete != nil {
				gone(*u.Delete.RegionName)
			}
		}
		if len(w.replicas) == 0 {
			w.strong, w.witness = false, ""
		}
	}
}

// dropReplicas deletes the replicas that a case has left, the latest first: a replica must stay while another one that
// was made from it exists. Those of a strongly consistent table are deleted together.
func (w *world) dropReplicas(ctx context.Context) (err error) {
	if w.store.Name == Local { // it ignores ReplicaUpdates in a request that also changes something else
		return nil
	}
	if w.strong && len(w.replicas) > 0 {
		in := &dynamodb.UpdateTableInput{TableName: aws.String(w.name(usualTable))}
		for _, r := range w.replicas {
			in.ReplicaUpdates = append(in.ReplicaUpdates, deleting(r.region))
		}
		if w.witness != "" {
			in.GlobalTableWitnessUpdates = []types.GlobalTableWitnessGroupUpdate{
				{Delete: &types.DeleteGlobalTableWitnessGroupMemberAction{RegionName: aws.String(w.witness)}},
			}
		}
		_, err := send(ctx, w.store, in)
		return err
	}
	for _, r := range slices.Backward(w.replicas) {
		in := &dynamodb.UpdateTableInput{
			TableName:      aws.String(w.name(usualTable)),
			ReplicaUpdates: []types.ReplicationGroupUpdate{deleting(r.region)},
		}
		_, refusal := send(ctx, w.store, elsewhere{r.source, in})
		err = errors.Join(err, refusal)
	}
	return err
}
