/* SPDX-License-Identifier: Apache-2.0 */
/* Native functions of Victim.java. Java exceptions are pending while C returns. */
#include <jni.h>
#include <pthread.h>

#include "victim.h"

#define THREADS_MAX 16

static JavaVM *machine;

__attribute__((noipa)) int victim_java(JNIEnv *env, jclass class, int i)
{
	int epoch = victim_enters(VICTIM_java);

	if (i % 4 == 3)
		(*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/IllegalArgumentException"),
				 "three");
	else
		(*env)->CallStaticVoidMethod(
			env, class, (*env)->GetStaticMethodID(env, class, "callback", "(I)V"),
			(jint)i);
	victim_returns(VICTIM_java, epoch);
	return i;
}

JNIEXPORT jint JNICALL Java_Victim_call(JNIEnv *env, jclass class, jint i)
{
	return victim_java(env, class, i);
}

/* An uncaught exception ends with the thread. */
static void *attached(void *class)
{
	JNIEnv *env;

	if ((*machine)->AttachCurrentThread(machine, (void **)&env, NULL))
		return NULL;
	for (int i = 0; i < 16; i++) {
		victim_java(env, class, i);
		(*env)->ExceptionClear(env);
	}
	(*machine)->DetachCurrentThread(machine);
	return NULL;
}

JNIEXPORT void JNICALL Java_Victim_attachThreads(JNIEnv *env, jclass class, jint threads)
{
	pthread_t thread[THREADS_MAX];
	jclass global = (*env)->NewGlobalRef(env, class);

	(*env)->GetJavaVM(env, &machine);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, attached, global);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	(*env)->DeleteGlobalRef(env, global);
}

JNIEXPORT void JNICALL Java_Victim_gate(JNIEnv *env, jclass class)
{
	victim_gate();
}

JNIEXPORT jboolean JNICALL Java_Victim_again(JNIEnv *env, jclass class)
{
	return victim_again();
}

JNIEXPORT jint JNICALL Java_Victim_rounds(JNIEnv *env, jclass class)
{
	return victim_rounds();
}

JNIEXPORT void JNICALL Java_Victim_print(JNIEnv *env, jclass class, jstring name, jboolean ok)
{
	victim_print((*env)->GetStringUTFChars(env, name, NULL), ok);
}
