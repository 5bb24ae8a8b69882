internal import Glibc

/// The spectrum of 256 to 4,096 real numbers, as powers: a Fourier transform of half as many complex numbers, radix 2.
///
/// Tables are made once. It is as fast as numpy's. FFTW is many times faster, but even here a sensor of three axes at
/// 3,200 Hz takes less than a hundredth of a core, so no library is linked for it.
struct RealSpectrum: Sendable {
    /// How many numbers go in.
    let size: Int
    private let half: Int
    private let order: [Int]
    /// For each stage one after the other: cosines and sines.
    private let cosines: [Double]
    private let sines: [Double]
    /// For taking the two halves apart.
    private let splitCosines: [Double]
    private let splitSines: [Double]
    private var real: [Double]
    private var imaginary: [Double]

    /// Makes one for `size` numbers, a power of two from 4.
    init(size: Int) {
        precondition(size >= 4 && size & (size - 1) == 0, "the size of a spectrum is a power of two")
        self.size = size
        let half = size / 2
        self.half = half
        let bits = half.trailingZeroBitCount
        order = (0..<half).map { place in
            var reversed = 0
            for bit in 0..<bits where place & (1 << bit) != 0 { reversed |= 1 << (bits - 1 - bit) }
            return reversed
        }
        var cosines: [Double] = []
        var sines: [Double] = []
        var length = 2
        while length <= half {
            for place in 0..<(length / 2) {
                cosines.append(cos(2 * .pi * Double(place) / Double(length)))
                sines.append(-sin(2 * .pi * Double(place) / Double(length)))
            }
            length *= 2
        }
        self.cosines = cosines
        self.sines = sines
        splitCosines = (0...half).map { cos(2 * .pi * Double($0) / Double(size)) }
        splitSines = (0...half).map { -sin(2 * .pi * Double($0) / Double(size)) }
        real = Array(repeating: 0, count: half)
        imaginary = Array(repeating: 0, count: half)
    }

    /// Adds the squared magnitude of each of the `size / 2 + 1` frequencies to `powers`.
    mutating func add(_ numbers: [Double], to powers: inout [Double]) {
        precondition(
            numbers.count == size && powers.count == half + 1,
            "a spectrum takes as many numbers as it was made for"
        )
        for place in 0..<half {
            let from = order[place]
            real[place] = numbers[2 * from]
            imaginary[place] = numbers[2 * from + 1]
        }
        transform()
        powers[0] += (real[0] + imaginary[0]) * (real[0] + imaginary[0])
        powers[half] += (real[0] - imaginary[0]) * (real[0] - imaginary[0])
        for place in 1..<half {
            let mirror = half - place
            let evenReal = 0.5 * (real[place] + real[mirror])
            let evenImaginary = 0.5 * (imaginary[place] - imaginary[mirror])
            let oddReal = 0.5 * (imaginary[place] + imaginary[mirror])
            let oddImaginary = -0.5 * (real[place] - real[mirror])
            let c = splitCosines[place]
            let s = splitSines[place]
            let outReal = evenReal + c * oddReal - s * oddImaginary
            let outImaginary = evenImaginary + c * oddImaginary + s * oddReal
            powers[place] += outReal * outReal + outImaginary * outImaginary
        }
    }

    private mutating func transform() {
        let count = half
        real.withUnsafeMutableBufferPointer { re in
            imaginary.withUnsafeMutableBufferPointer { im in
                cosines.withUnsafeBufferPointer { cosines in
                    sines.withUnsafeBufferPointer { sines in
                        RealSpectrum.butterflies(count, re, im, cosines, sines)
                    }
                }
            }
        }
    }

    private static func butterflies(
        _ count: Int,
        _ re: UnsafeMutableBufferPointer<Double>,
        _ im: UnsafeMutableBufferPointer<Double>,
        _ cosines: UnsafeBufferPointer<Double>,
        _ sines: UnsafeBufferPointer<Double>
    ) {
        // All places are below `count`, the length of the four buffers or more: this is the one hot loop here.
        guard let re = re.baseAddress, let im = im.baseAddress, var c = cosines.baseAddress, var s = sines.baseAddress
        else { return }
        var middle = 1
        while middle < count {
            var start = 0
            while start < count {
                let (lowRe, lowIm, highRe, highIm) = (re + start, im + start, re + start + middle, im + start + middle)
                for place in 0..<middle {
                    let turnedReal = highRe[place] * c[place] - highIm[place] * s[place]
                    let turnedImaginary = highRe[place] * s[place] + highIm[place] * c[place]
                    highRe[place] = lowRe[place] - turnedReal
                    highIm[place] = lowIm[place] - turnedImaginary
                    lowRe[place] += turnedReal
                    lowIm[place] += turnedImaginary
                }
                start += 2 * middle
            }
            c += middle
            s += middle
            middle *= 2
        }
    }
}
