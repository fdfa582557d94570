/** Arguments for a server whose replicas get its data at once: it would wait 5 s for more of them to come. */
export const promptReplication = ["--repl-diskless-sync-delay", "0"];
