package policy

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Measure is a figure of a run.
type Measure int

// The measures. Shares are from 0 to 1.
const (
	// HitRatio is the share of reads that found a fresh value, in the tier or in the store.
	HitRatio Measure = iota
	// TierRatio is the share of reads that the tier answered.
	TierRatio
	// Outdated is the share of reads that were served data that had changed since its render.
	Outdated
	// OutdatedAge is how long the served data had been outdated, in seconds, averaged over all reads (0 for current
	// data).
	OutdatedAge
	// OutdatedP50, OutdatedP99 and OutdatedMost are two quantiles of this time and its largest value, over the reads
	// that were served outdated data.
	OutdatedP50
	OutdatedP99
	OutdatedMost
	// OutdatedOver1s, OutdatedOver10s, OutdatedOver1m, OutdatedOver10m and OutdatedOver1h are the shares of reads whose
	// data had been outdated for more than that time. Service levels are stated in this form.
	OutdatedOver1s
	OutdatedOver10s
	OutdatedOver1m
	OutdatedOver10m
	OutdatedOver1h
	// OutdatedAtExpiry is the share of values whose data had changed when they ceased to be fresh.
	OutdatedAtExpiry
	// KnownStale is the share of reads that were served a value that the cache knew to be stale.
	KnownStale
	// Renders is the number of renders per second.
	Renders
	// RendersAtOnce is the maximum number of simultaneous renders.
	RendersAtOnce
	// RendersOfOneKey is the maximum number of simultaneous renders of one key.
	RendersOfOneKey
	// RendersPerRefresh is the mean size of a group of renders of one key that overlap. 1 is a cache without
	// stampedes.
	RendersPerRefresh
	// Early is the time from the first refresh of a value to the end of its freshness, in seconds, averaged over the
	// refreshes of fresh values.
	Early
	// LatencyMean, LatencyP50 and LatencyP99 are the mean and two quantiles of the time that readers wait, in seconds.
	LatencyMean
	LatencyP50
	LatencyP99
	// ReadUnits and WriteUnits are request units of the store per second.
	ReadUnits
	WriteUnits
	// Throttled is throttled requests per second, and Failed the share of reads that failed after all their retries.
	Throttled
	Failed
	// RowsPast is the average number of rows that are past their ttl but not deleted yet.
	RowsPast
	// CostMonth is the cost of the run extrapolated to 30 days.
	CostMonth
	// ConsumedReadCapacityUnits and the measures after it are CloudWatch's metrics of these names, as sums over the
	// counted time. ConditionalCheckFailedRequests are attempts to take a lock that is held. A store without TTL, and
	// Redis, delete nothing by TTL.
	//
	// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
	ConsumedReadCapacityUnits
	ConsumedWriteCapacityUnits
	ThrottledRequests
	ConditionalCheckFailedRequests
	TimeToLiveDeletedItemCount
	measures
)

// Measures returns all measures, in order.
func Measures() []Measure {
	all := make([]Measure, measures)
	for i := range all {
		all[i] = Measure(i)
	}
	return all
}

// unit is the unit of a measure.
type unit int

const (
	share unit = iota
	seconds
	perSecond
	count
	money
)

var measureInfo = [measures]struct {
	name string
	unit unit
}{
	HitRatio:          {"hit-ratio", share},
	TierRatio:         {"tier-ratio", share},
	Outdated:          {"outdated", share},
	OutdatedAge:       {"outdated-age", seconds},
	OutdatedP50:       {"outdated-p50", seconds},
	OutdatedP99:       {"outdated-p99", seconds},
	OutdatedMost:      {"outdated-most", seconds},
	OutdatedOver1s:    {"outdated-over-1s", share},
	OutdatedOver10s:   {"outdated-over-10s", share},
	OutdatedOver1m:    {"outdated-over-1m", share},
	OutdatedOver10m:   {"outdated-over-10m", share},
	OutdatedOver1h:    {"outdated-over-1h", share},
	OutdatedAtExpiry:  {"outdated-at-expiry", share},
	KnownStale:        {"known-stale", share},
	Renders:           {"renders", perSecond},
	RendersAtOnce:     {"renders-at-once", count},
	RendersOfOneKey:   {"renders-of-one-key", count},
	RendersPerRefresh: {"renders-per-refresh", count},
	Early:             {"early", seconds},
	LatencyMean:       {"latency-mean", seconds},
	LatencyP50:        {"latency-p50", seconds},
	LatencyP99:        {"latency-p99", seconds},
	ReadUnits:         {"read-units", perSecond},
	WriteUnits:        {"write-units", perSecond},
	Throttled:         {"throttled", perSecond},
	Failed:            {"failed", share},
	RowsPast:          {"rows-past-ttl", count},
	CostMonth:         {"cost-month", money},

	ConsumedReadCapacityUnits:      {"ConsumedReadCapacityUnits", count},
	ConsumedWriteCapacityUnits:     {"ConsumedWriteCapacityUnits", count},
	ThrottledRequests:              {"ThrottledRequests", count},
	ConditionalCheckFailedRequests: {"ConditionalCheckFailedRequests", count},
	TimeToLiveDeletedItemCount:     {"TimeToLiveDeletedItemCount", count},
}

// String returns the measure's name, as in tables and CSV: "hit-ratio".
func (m Measure) String() string {
	if m < 0 || m >= measures {
		return fmt.Sprintf("Measure(%d)", int(m))
	}
	return measureInfo[m].name
}

// Format prints a value of the measure for readers: "12.3 %", "250ms", "4.2/s".
func (m Measure) Format(v float64) string {
	switch measureInfo[m].unit {
	case share:
		return fmt.Sprintf("%.4g %%", 100*v)
	case seconds:
		return formatSeconds(v)
	case perSecond:
		return fmt.Sprintf("%.4g/s", v)
	case money:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.4g", v)
	}
}

// formatSeconds prints seconds with three digits.
func formatSeconds(v float64) string {
	if v == 0 {
		return "0s"
	}
	digits := math.Pow(10, math.Floor(math.Log10(v))-2)
	return time.Duration(math.Round(v/digits) * digits * float64(time.Second)).Round(time.Microsecond).String()
}

// outdatedBounds are the bounds of OutdatedOver1s and the measures after it.
var outdatedBounds = [...]time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour}

// Result holds the counts of one run.
type Result struct {
	lasts                        time.Duration
	prices                       Prices
	reads, hits, tierHits, known uint64
	latency, outdated            histogram
	outdatedOver                 [len(outdatedBounds)]uint64
	renders, refreshes           uint64
	atOnce, atOnceOfOneKey       int
	expired, expiredOutdated     uint64
	early                        histogram
	readUnits, writeUnits        float64
	throttles, failed            uint64
	conditionsFailed, deleted    uint64
	byteSeconds, pastSeconds     float64
}

// Reads returns the number of measured reads.
func (r *Result) Reads() uint64 { return r.reads }

// Value returns the value of a measure in the run.
func (r *Result) Value(m Measure) float64 {
	reads, lasts := float64(r.reads), r.lasts.Seconds()
	switch m {
	case HitRatio:
		return ratio(float64(r.hits), reads)
	case TierRatio:
		return ratio(float64(r.tierHits), reads)
	case Outdated:
		return ratio(float64(r.outdated.n), reads)
	case OutdatedAge:
		return ratio(r.outdated.sum, reads)
	case OutdatedP50:
		return r.outdated.quantile(0.50).Seconds()
	case OutdatedP99:
		return r.outdated.quantile(0.99).Seconds()
	case OutdatedMost:
		return r.outdated.most.Seconds()
	case OutdatedOver1s, OutdatedOver10s, OutdatedOver1m, OutdatedOver10m, OutdatedOver1h:
		return ratio(float64(r.outdatedOver[m-OutdatedOver1s]), reads)
	case OutdatedAtExpiry:
		return ratio(float64(r.expiredOutdated), float64(r.expired))
	case KnownStale:
		return ratio(float64(r.known), reads)
	case Renders:
		return ratio(float64(r.renders), lasts)
	case RendersAtOnce:
		return float64(r.atOnce)
	case RendersOfOneKey:
		return float64(r.atOnceOfOneKey)
	case RendersPerRefresh:
		return ratio(float64(r.renders), float64(r.refreshes))
	case Early:
		return r.early.mean()
	case LatencyMean:
		return r.latency.mean()
	case LatencyP50:
		return r.latency.quantile(0.50).Seconds()
	case LatencyP99:
		return r.latency.quantile(0.99).Seconds()
	case ReadUnits:
		return ratio(r.readUnits, lasts)
	case WriteUnits:
		return ratio(r.writeUnits, lasts)
	case Throttled:
		return ratio(float64(r.throttles), lasts)
	case Failed:
		return ratio(float64(r.failed), reads)
	case RowsPast:
		return ratio(r.pastSeconds, lasts)
	case CostMonth:
		return r.prices.month(r)
	case ConsumedReadCapacityUnits:
		return r.readUnits
	case ConsumedWriteCapacityUnits:
		return r.writeUnits
	case ThrottledRequests:
		return float64(r.throttles)
	case ConditionalCheckFailedRequests:
		return float64(r.conditionsFailed)
	case TimeToLiveDeletedItemCount:
		return float64(r.deleted)
	}
	return math.NaN()
}

// histogram counts durations in buckets that are at most 1/32 of their value wide.
type histogram struct {
	counts []uint64
	n      uint64
	sum    float64 // seconds
	most   time.Duration
}

// Each power of two is divided into 1 << subBits buckets.
const subBits = 5

func (h *histogram) add(d time.Duration) {
	i := bucketOf(d)
	if i >= len(h.counts) {
		h.counts = append(h.counts, make([]uint64, i+1-len(h.counts))...)
	}
	h.counts[i]++
	h.n++
	h.sum += d.Seconds()
	h.most = max(h.most, d)
}

// bucketOf returns the bucket of a duration: its leading bits.
func bucketOf(d time.Duration) int {
	v := uint64(max(0, d))
	shift := max(0, bits.Len64(v)-subBits-1)
	return shift<<subBits + int(v>>shift)
}

func middleOf(i int) time.Duration {
	shift := max(0, i>>subBits-1)
	return time.Duration((uint64(i-shift<<subBits) << shift) + (1<<shift)/2)
}

// quantile returns the duration that the given share of the counted durations does not exceed; 0 if none was counted.
func (h *histogram) quantile(share float64) time.Duration {
	rank := uint64(share * float64(h.n))
	var below uint64
	for i, c := range h.counts {
		if below += c; below > rank {
			return min(middleOf(i), h.most)
		}
	}
	return h.most
}

// mean returns the mean in seconds; 0 if none was counted.
func (h *histogram) mean() float64 { return ratio(h.sum, float64(h.n)) }

// ratio is a/b, and 0 if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
