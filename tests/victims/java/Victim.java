// SPDX-License-Identifier: Apache-2.0
// Java calls C, which throws exceptions of Java, calls back what throws, and attaches threads of its own.
public class Victim {
	static native int call(int i);

	static native void attachThreads(int threads);

	static native void gate();

	static native boolean again();

	static native int rounds();

	static native void print(String name, boolean ok);

	static void callback(int i) {
		if (i % 4 == 1)
			throw new IllegalStateException("odd");
	}

	static boolean run(int rounds) {
		int caught = 0;

		for (int i = 0; i < rounds; i++) {
			try {
				call(i);
			} catch (IllegalStateException | IllegalArgumentException e) {
				caught++;
			}
		}
		attachThreads(4);
		return caught == rounds / 2;
	}

	public static void main(String[] arguments) {
		System.load(arguments[0]);
		int rounds = rounds() / 4 * 4;
		boolean ok = run(rounds);

		gate();
		do {
			ok &= run(rounds);
		} while (again());
		print("java_exceptions", ok);
		System.exit(ok ? 0 : 1);
	}
}
