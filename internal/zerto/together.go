package zerto

import "sync"

// few is how many short requests of one kind run at the same time.
const few = 8

// each calls f with 0 … n-1, at most limit at the same time, and returns when
// all have. A panic of one is passed on to the caller, who can recover from it.
func each(n, limit int, f func(i int)) {
	var wg sync.WaitGroup
	fault := make(chan any, 1)
	slots := make(chan struct{}, limit)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					select {
					case fault <- r:
					default: // one is enough
					}
				}
				<-slots
			}()
			f(i)
		})
	}
	wg.Wait()
	select {
	case r := <-fault:
		panic(r)
	default:
	}
}

// A memo is a value that is made once, by the first who asks; the others wait.
// It does so without a lock that is held while the value is made.
type memo[T any] struct {
	mu   sync.Mutex
	done chan struct{}
	v    T
	err  error
}

func (m *memo[T]) get(make1 func() (T, error)) (T, error) {
	m.mu.Lock()
	if m.done != nil {
		done := m.done
		m.mu.Unlock()
		<-done
		return m.v, m.err
	}
	done := make(chan struct{})
	m.done = done
	m.mu.Unlock()
	defer close(done)
	m.v, m.err = make1()
	return m.v, m.err
}
