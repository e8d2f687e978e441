// Package zerto makes the way back before a change with a Zerto Virtual Manager
// (ZVM): a tagged checkpoint in the journal of each protection group (VPG) of
// each machine. It talks to the ZVM's REST API v1, of the 10.x appliance
// (Keycloak tokens) and of the Windows ZVM up to 9.7 (session header).
//
// The package promises:
//
//   - A checkpoint counts only once its exact tag has been seen in the group's
//     list of checkpoints. An accepted request proves nothing, nor does a
//     completed task: the journal stamps the tag later, and a change made in
//     between would lie before the point.
//   - A tag counts only if no change was let through on its group between the
//     request and the listing. The state file counts the changes of each group;
//     a tag keeps the count of its request.
//   - The intent stands in the state file and the log before a checkpoint is
//     asked for, and no request is sent twice. What a killed process asked for
//     is found by the next call.
//   - Calls on one group at the same time share one request, in one process and
//     in several. Groups do not wait for each other.
//   - "Zerto does not know the machine" and "it could not be found out" are
//     never mixed up: the first asks a person, the second denies.
//   - An answer comes before the context ends. When the expected wait does not
//     fit, it comes at once, with the time to try again.
//
// The package refuses to go through a proxy of the environment, to follow
// redirects, to send anything over plain HTTP but to the loopback address, to
// read a secret from a file that others can read, and to pass on a machine's
// name in a URL path.
package zerto
