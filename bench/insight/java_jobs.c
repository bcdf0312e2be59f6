/* SPDX-License-Identifier: Apache-2.0 */
/* java_jobs.c - native methods of java_jobs.java. */
#include <jni.h>

#include "native.h"

#define METHOD(type, name) JNIEXPORT type JNICALL Java_java_1jobs_##name

METHOD(void, open)(JNIEnv *env, jclass class, jlong ns)
{
	plant_open((uint64_t)ns);
}

METHOD(void, go)(JNIEnv *env, jclass class)
{
	native_go();
}

METHOD(void, room)(JNIEnv *env, jclass class)
{
	plant_wait_room();
}

METHOD(void, submit)(JNIEnv *env, jclass class)
{
	plant_submit(0);
}

METHOD(void, begin)(JNIEnv *env, jclass class)
{
	native_begin();
}

METHOD(void, end)(JNIEnv *env, jclass class, jint kind)
{
	native_end(kind);
}

METHOD(jlong, cpu)(JNIEnv *env, jclass class)
{
	return (jlong)native_cpu_ns();
}

METHOD(void, done)(JNIEnv *env, jclass class, jstring expected)
{
	native_done((*env)->GetStringUTFChars(env, expected, NULL));
}
