package cli

import (
	"bytes"
	"flag"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/answer"
)

func TestDeliverBlocksWhatNobodyReads(t *testing.T) {
	ask := answer.Encode("PreToolUse", answer.Verdict{Decision: answer.Ask, Message: "sure?"})
	nothing := answer.Encode("PreToolUse", answer.Verdict{Decision: answer.NoDecision})

	// The Go runtime puts the null device in the place of a closed stream.
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { _ = null.Close() }()
	require.Equal(t, 2, deliver(&Stdio{Out: null, Err: null}, ask))
	require.Equal(t, 0, deliver(&Stdio{Out: null, Err: null}, nothing), "there was nothing to read")
	require.Equal(t, 0, deliver(&Stdio{Out: new(bytes.Buffer), Err: null}, ask))

	var words bytes.Buffer
	require.Equal(t, 2, deliver(&Stdio{Out: null, Err: &words}, ask))
	require.Contains(t, words.String(), "standard output", "a host that sees only the status shows this")

	r, w := io.Pipe() // nobody reads from r
	defer func() { _ = r.Close() }()
	require.ErrorIs(t, handOver(w, []byte("x"), time.Millisecond), errNobodyReads)
	require.ErrorIs(t, handOver(null, []byte("x"), time.Minute), errNobodyReads)
	require.NoError(t, handOver(new(bytes.Buffer), []byte("x"), time.Minute))
}

// TestAnEmptyFileNameIsAMistake: it must not hand the choice to the environment,
// which a project's settings can fill.
func TestAnEmptyFileNameIsAMistake(t *testing.T) {
	for _, args := range [][]string{{"--config", ""}, {"--config="}, {"--log", ""}} {
		var c common
		require.Error(t, c.read(flag.NewFlagSet("hook", flag.ContinueOnError), args), "%q", args)
	}
	var c common
	require.NoError(t, c.read(flag.NewFlagSet("hook", flag.ContinueOnError), []string{"--config", "a", "--log=b"}))
	require.Equal(t, common{config: "a", log: "b"}, c)
}
