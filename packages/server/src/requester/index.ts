/** Who something is done for, and what they may do and see. What serves them over HTTP, and what acts otherwise, makes one. */
export { type Directory, demand, type PermissionScope, type Requester, visible, whoLacksIt } from './requester.ts';
