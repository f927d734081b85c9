package policy

import (
	"fmt"
	"time"
)

// Operation is how a cache is run: what Recommend looks at.
type Operation struct {
	// Revalidate is how long a value is fresh (revalidate_seconds).
	Revalidate time.Duration
	// Retention is how long after it was stored a row may be deleted (its ttl). 0 keeps rows for ever.
	Retention time.Duration
	// Buffer is the least time from the end of a row's freshness to its ttl. 0 counts as a minute.
	Buffer time.Duration
	// Lag is how much later TTL deletes a row, on average. 0 is at once.
	Lag time.Duration
	// KeyReads is the read units that the store spends on its hottest key, a second.
	KeyReads float64
	// Throttled is the requests that the store refuses for lack of throughput, a second.
	Throttled float64
}

// Recommendation is one that is not met.
type Recommendation struct {
	// Name is "retention", "ttl-buffer", "ttl-lag", "hot-key" or "throttled".
	Name string
	// found and expected are figures with their units, and why says what the recommendation is good for.
	found, expected, why string
}

// String is one line: what was found and expected, as figures with their units, and what that is good for.
func (r Recommendation) String() string {
	return fmt.Sprintf("%s: found %s, expected %s: %s", r.Name, r.found, r.expected, r.why)
}

// partitionReads is how many read units one partition key takes in a second.
const partitionReads = 3000

// leastBuffer is the shortest buffer that counts as "minutes to hours", the advice of the tutorials.
const leastBuffer = time.Minute

// Recommend returns the recommendations for ISR caches in DynamoDB that are not met, in the order of Recommendation.Name.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html (rows are deleted some days after)
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html (3,000 units)
func Recommend(o Operation) []Recommendation {
	var unmet []Recommendation
	buffer := o.Buffer
	if buffer == 0 {
		buffer = leastBuffer
	}
	if least := o.Revalidate + buffer; o.Retention > 0 && o.Retention < least {
		unmet = append(unmet, Recommendation{"retention", o.Retention.String(), "at least " + least.String(),
			fmt.Sprintf("a row is fresh for %s, and may be deleted no sooner than %s after that", o.Revalidate, buffer)})
	}
	if buffer < leastBuffer {
		unmet = append(unmet, Recommendation{"ttl-buffer", buffer.String(), "at least " + leastBuffer.String(),
			"no reader may depend on when exactly TTL deletes"})
	}
	if o.Retention > 0 && o.Lag > o.Retention {
		unmet = append(unmet, Recommendation{"ttl-lag", o.Lag.String(), "at most " + o.Retention.String() + ", the retention",
			"most rows in the table are past their ttl, and their storage is paid for"})
	}
	if o.KeyReads > partitionReads {
		unmet = append(unmet, Recommendation{"hot-key", fmt.Sprintf("%.4g read units a second", o.KeyReads),
			fmt.Sprintf("at most %d", partitionReads), "one partition key takes no more; a tier in the memory of the nodes reads it less often"})
	}
	if o.Throttled > 0 {
		unmet = append(unmet, Recommendation{"throttled", fmt.Sprintf("%.4g requests a second", o.Throttled), "none",
			"an alarm on ThrottledRequests would ring"})
	}
	return unmet
}
