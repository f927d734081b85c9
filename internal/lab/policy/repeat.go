package policy

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/aclements/go-moremath/stats"
)

// Interval is a mean over seeds and its confidence interval: with the requested confidence, the mean of infinitely many
// seeds lies between Low and High.
type Interval struct{ Mean, Low, High float64 }

// Summary has the results of an experiment under several seeds.
type Summary struct {
	// Results are by seed, in order.
	Results []*Result
	// Confidence is the level of the intervals, such as 0.99.
	Confidence float64
}

// Of returns a measure with its interval, by Student's distribution over the seeds. One seed has no interval: Low and
// High are not numbers.
func (s *Summary) Of(m Measure) Interval {
	values := make([]float64, len(s.Results))
	for i, r := range s.Results {
		values[i] = r.Value(m)
	}
	return interval(values, s.Confidence)
}

func interval(values []float64, confidence float64) Interval {
	mean, low, high := stats.MeanCI(values, confidence)
	if len(values) < 2 {
		low, high = math.NaN(), math.NaN()
	}
	return Interval{mean, low, high}
}

// Repeat plays the experiment with the seeds from first on. The summary does not depend on the number of workers. If
// each is not nil, it is called after every run with the number of finished runs, by one worker at a time. If ctx ends,
// Repeat returns its error.
func (x Experiment) Repeat(
	ctx context.Context, first uint64, seeds, workers int, each func(done int),
) (*Summary, error) {
	if seeds < 1 {
		return nil, fmt.Errorf("policy: found %d seeds, expected at least 1\nhint: 10 seeds give intervals", seeds)
	}
	s := &Summary{Results: make([]*Result, seeds), Confidence: 0.99}
	var (
		mu     sync.Mutex
		next   int
		done   int
		failed error
		wait   sync.WaitGroup
	)
	for range min(max(1, workers), seeds) {
		wait.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= seeds || failed != nil || ctx.Err() != nil
				mu.Unlock()
				if stop {
					return
				}
				result, err := x.Run(ctx, first+uint64(i))
				mu.Lock()
				s.Results[i] = result
				if err != nil && failed == nil {
					failed = err
				}
				if done++; each != nil {
					each(done)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if failed == nil {
		failed = ctx.Err()
	}
	if failed != nil {
		return nil, failed
	}
	return s, nil
}
