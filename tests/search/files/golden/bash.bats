#!/usr/bin/env bats

load test_helper

SHARED=1

# Makes the folder that each test has to itself.
setup() {
  make_folder "$BATS_TEST_NAME"
}

# An empty folder has no files.
@test "lists nothing of an empty folder: 0.5 s" {
  run list_files "$FOLDER"
  [ "$status" -eq 0 ]
  assert_output ""
}

@test 'says "no such folder" and $PATH' { # bats test_tags=slow
  COUNT=2
  if run list_files missing; then
    fail "it should"
  fi
  helper() {
    inner_of_it
  }
}

# bats test_tags=quick
@test unquoted_name  {
  prune_cache <<'END'
@test "of a text" {
}
END
}

function also_a_test { #@test
  check_it
}

teardown() { drop_folder; }
