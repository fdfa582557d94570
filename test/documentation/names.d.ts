// Functions of the reader's own program that the pages call without showing them.
declare function cancelIfUnpaid(orderId: string): Promise<void>;
declare function sendReminder(to: string): Promise<void>;
