/** Redis 6.2 and 7.0: "The user executing the script can't run this command or subcommand script: 1f…, on @user_script:4." */
const scriptMayNotRun = "The user executing the script can't ";
/** Redis 7.2 and newer, and Valkey: "ACL failure in script: User app has no permissions to run the 'zadd' command script: 1f…". */
const failureInScript = "ACL failure in script: ";

/** Whether a script met a missing right, of which some servers tell by an error with the code ERR. */
export function isMissingInScript(message: string): boolean {
  return message.includes(scriptMayNotRun) || message.includes(failureInScript);
}

/**
 * The commands that the user may not run, one of which was met, by the reply; none when it was about keys or channels, or cannot
 * be known.
 * @param source Of the script that met it: older servers say no more than in which line.
 */
export function missingCommands(message: string, source = ""): string[] {
  const named = /no permissions to run the '([^']+)'/i.exec(message)?.[1];
  if (named !== undefined) return [named.toUpperCase().replace("|", " ")];
  const line = /can't run this command .*@user_script: ?(\d+)|@user_script: ?(\d+): .*can't run this command/.exec(
    message,
  );
  const text = source.split("\n")[Number(line?.[1] ?? line?.[2] ?? 0) - 1] ?? "";
  const names = Array.from(
    text.matchAll(/\bcall\(([^,)]*)/g),
    ([, first = ""]) => first.match(/(?<=")[A-Z]+(?=")/g) ?? [],
  );
  return [...new Set(names.flat())];
}
