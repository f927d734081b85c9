package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// home is the store's region, in which cases about global tables begin with the usual table.
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

// noteReplicas learns from a request that was not refused.
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
// was made from it exists. Those of a strongly consistent table go together.
func (w *world) dropReplicas(ctx context.Context) (err error) {
	if w.store.Name == Local { // it leaves ReplicaUpdates out of a request that changes anything else
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
