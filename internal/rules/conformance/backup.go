package conformance

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Answers about backups have these forms:
//
//	backup one USER AVAILABLE               a backup
//	[one two]; last #2                      a list, with the number of the backup that goes on from
//	...; restoring from #1 of rows          a table that is being restored: the answer of a restore
//
// In the answers of these cases #1 stands for the last part of the ARN of the first backup seen, and times are relative
// to the start of the case, as start+1m0s.

type backupSeen struct {
	arn  string
	kind types.BackupType
}

// saw records a backup. Backups are numbered from 1, in the order in which they are seen.
func (w *world) saw(arn string, kind types.BackupType) {
	if !slices.ContainsFunc(w.backups, func(b backupSeen) bool { return b.arn == arn }) {
		w.backups = append(w.backups, backupSeen{arn, kind})
	}
}

// backup returns the ARN of a backup by its number. A backup that was not seen does not exist.
func (w *world) backup(n int) string {
	if n > len(w.backups) {
		return w.arn + w.name(usualTable) + "/backup/01489173575360-00000000"
	}
	return w.backups[n-1].arn
}

func idOfBackup(arn string) string { return arn[strings.LastIndexByte(arn, '/')+1:] }

var timeInText = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// plain replaces backups and times in an answer by their names in cases.
func (w *world) plain(text string) string {
	for i, b := range w.backups {
		text = strings.ReplaceAll(text, idOfBackup(b.arn), fmt.Sprintf("#%d", i+1))
	}
	if w.began.IsZero() {
		return text
	}
	return timeInText.ReplaceAllStringFunc(text, func(text string) string {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return text
		}
		return "start+" + at.Sub(w.began).String()
	})
}

// dropBackups deletes the case's backups, except those that expire by themselves.
func (w *world) dropBackups(ctx context.Context) error {
	var failed error
	for _, b := range w.backups {
		if b.kind == types.BackupTypeSystem {
			continue
		}
		_, err := send(context.WithoutCancel(ctx), w.store, &dynamodb.DeleteBackupInput{BackupArn: aws.String(b.arn)})
		if _, gone := errors.AsType[*types.BackupNotFoundException](err); err != nil && !gone {
			failed = errors.Join(failed, fmt.Errorf("delete backup %s: %w", b.arn, err))
		}
	}
	return failed
}

// restored returns the name of the table that is being restored according to an answer.
func restored(out any) *string {
	switch out := out.(type) {
	case *dynamodb.RestoreTableFromBackupOutput:
		return out.TableDescription.TableName
	case *dynamodb.RestoreTableToPointInTimeOutput:
		return out.TableDescription.TableName
	}
	return nil
}

func instantText(at *time.Time) string { return aws.ToTime(at).UTC().Format(time.RFC3339) }

func backupText(d *types.BackupDetails) string {
	status := strings.Replace(string(d.BackupStatus), "CREATING", "AVAILABLE", 1)
	text := fmt.Sprintf("backup %s %s %s", aws.ToString(d.BackupName), d.BackupType, status)
	if d.BackupExpiryDateTime != nil {
		text += " until " + instantText(d.BackupExpiryDateTime)
	}
	return text
}

func backupsText(out *dynamodb.ListBackupsOutput) string {
	names := make([]string, len(out.BackupSummaries))
	for i, b := range out.BackupSummaries {
		names[i] = aws.ToString(b.BackupName)
	}
	text := "[" + strings.Join(names, " ") + "]"
	if out.LastEvaluatedBackupArn != nil {
		text += "; last " + idOfBackup(*out.LastEvaluatedBackupArn)
	}
	return text
}

func backupDescriptionText(d *types.BackupDescription) string {
	t, features := d.SourceTableDetails, d.SourceTableFeatureDetails
	table := &types.TableDescription{
		TableName: t.TableName, KeySchema: t.KeySchema, BillingModeSummary: &types.BillingModeSummary{
			BillingMode: t.BillingMode,
		},
		ProvisionedThroughput: unitsOf(t.ProvisionedThroughput), OnDemandThroughput: t.OnDemandThroughput,
		SSEDescription:      features.SSEDescription,
		StreamSpecification: features.StreamDescription,
	}
	for _, x := range features.GlobalSecondaryIndexes {
		table.GlobalSecondaryIndexes = append(table.GlobalSecondaryIndexes, types.GlobalSecondaryIndexDescription{
			IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection,
			ProvisionedThroughput: unitsOf(x.ProvisionedThroughput),
		})
	}
	for _, x := range features.LocalSecondaryIndexes {
		table.LocalSecondaryIndexes = append(table.LocalSecondaryIndexes, types.LocalSecondaryIndexDescription{
			IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection,
		})
	}
	// without the types of keys
	text := backupText(d.BackupDetails) + "; " + strings.ReplaceAll(tableText(table), "  ", " ")
	if ttl := features.TimeToLiveDescription; ttl != nil {
		text += fmt.Sprintf("; ttl %s %s", ttl.TimeToLiveStatus, aws.ToString(ttl.AttributeName))
	}
	return text
}

func unitsOf(p *types.ProvisionedThroughput) *types.ProvisionedThroughputDescription {
	if p == nil {
		return nil
	}
	return &types.ProvisionedThroughputDescription{
		ReadCapacityUnits: p.ReadCapacityUnits, WriteCapacityUnits: p.WriteCapacityUnits,
	}
}

func restoringText(t *types.TableDescription) string {
	s := t.RestoreSummary
	if s == nil || !aws.ToBool(s.RestoreInProgress) {
		return tableText(t) + "; not restoring"
	}
	from := "its past"
	if s.SourceBackupArn != nil {
		from = idOfBackup(*s.SourceBackupArn)
	}
	return tableText(t) + "; restoring from " + from + " of " + aws.ToString(s.SourceTableArn)
}

// recoveryWindow asks for the bounds of the recovery of a table.
type recoveryWindow struct{ TableName *string }

func (r *recoveryWindow) read(ctx context.Context, s Store) (any, error) {
	out, err := send(ctx, s, &dynamodb.DescribeContinuousBackupsInput{TableName: r.TableName})
	if err != nil {
		return nil, err
	}
	described := out.(*dynamodb.DescribeContinuousBackupsOutput)
	return described.ContinuousBackupsDescription.PointInTimeRecoveryDescription, nil
}
