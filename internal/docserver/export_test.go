package docserver

import (
	"context"
	"encoding/json"
)

// Ask calls ask_docs without a wire, for the benchmarks.
func Ask(ctx context.Context, s *Server, question, project string) error {
	args, err := json.Marshal(map[string]string{"question": question, "project": project})
	if err != nil {
		return err
	}
	return s.call(ctx, &tools("")[0], args).GetError()
}
